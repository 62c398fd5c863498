package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"time"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/waiver"
	"eventide/internal/machine"
)

// Options say what is compared and how. Fill the defaults with Default.
type Options struct {
	Dir      string         // of the module: head
	Base     string         // a commit
	Patterns []string       // of packages, as the go command takes them
	Run      *regexp.Regexp // benchmarks by name, without "Benchmark"; nil: all
	Rounds   int            // of the times, at most
	Layouts  int            // of each binary
	Least    float64        // the least relative change of ns/op that is worth an alarm
	Blind    float64        // a time is inconclusive if only changes greater than this could be found
	Budget   time.Duration  // times that do not fit are not run
	Times    string         // TimesAuto, TimesOn or TimesOff
	Strict   bool           // a figure that cannot be measured makes the run inconclusive
	Always   bool           // measure equal binaries too, which shows the noise of the machine
	Blame    bool           // search for the commit and the functions of each regression
	Waivers  string         // file; empty, or no such file: none
	History  string         // file; empty: none
	Keep     bool           // append this run to History
	Progress io.Writer      // nil: silent

	now func() time.Time
}

// The values of Options.Times.
const (
	TimesAuto = "auto" // measure times unless the machine is too noisy
	TimesOn   = "on"   // measure them in any case
	TimesOff  = "off"  // compare counts only
)

// Default returns the options that are the command's defaults.
func Default() Options {
	return Options{
		Dir: ".", Patterns: []string{"./..."}, Rounds: 20, Layouts: 5, Least: 0.02, Blind: 0.1,
		Budget: 9 * time.Minute, Times: TimesAuto,
	}
}

// check returns an error for options that cannot be met.
func (o Options) check() error {
	switch {
	case o.Base == "":
		return errors.New("base is empty, want a commit")
	case o.Rounds < 10 || o.Rounds > 200:
		return fmt.Errorf("rounds is %d, want 10 to 200", o.Rounds)
	case o.Layouts < 1 || o.Layouts > o.Rounds/2:
		return fmt.Errorf("layouts is %d, want 1 to half the number of rounds", o.Layouts)
	case o.Least <= 0 || o.Blind <= o.Least:
		return fmt.Errorf("least is %v and blind is %v, want 0 < least < blind", o.Least, o.Blind)
	case !slices.Contains([]string{TimesAuto, TimesOn, TimesOff}, o.Times):
		return fmt.Errorf("times is %q, want auto, on or off", o.Times)
	case o.Keep && o.History == "":
		return errors.New("keep needs history")
	}
	return nil
}

// gate is one run.
type gate struct {
	Options
	*measure.Checkout
	report  *Report
	counter counter
	own     measure.Binary // the module of the self-test
	began   time.Time

	listed, matched int // benchmarks of either side, and those that Run chooses
}

func (g *gate) say(format string, args ...any) {
	if g.Progress != nil {
		fmt.Fprintf(g.Progress, format+"\n", args...)
	}
}

// Run compares head with base, and removes the files that it has made. It returns an error if
// the comparison could not be made; then the report has no meaning.
func Run(ctx context.Context, o Options) (_ Report, err error) {
	if o.now == nil {
		o.now = time.Now
	}
	if err := o.check(); err != nil {
		return Report{}, err
	}
	g := &gate{Options: o, began: o.now(), report: &Report{}}
	waivers, err := g.readWaivers()
	if err != nil {
		return Report{}, err
	}
	g.say("checking out %s", o.Base)
	if g.Checkout, err = measure.Open(ctx, o.Dir, o.Base); err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if err := g.about(ctx); err != nil {
		return Report{}, err
	}
	err = g.compare(ctx, waivers)
	g.report.Seconds = g.now().Sub(g.began).Seconds()
	return *g.report, err
}

func (g *gate) about(ctx context.Context) error {
	base, head, err := g.Describe(ctx)
	*g.report = Report{
		Schema: 1, Base: base, Head: head, Go: g.Go, CPU: machine.CPU(), CPUs: runtime.NumCPU(), Kernel: machine.Kernel(),
		Date: g.now().UTC().Format(time.RFC3339), Strict: g.Strict, TimesOff: g.Times == TimesOff,
	}
	return err
}

func (g *gate) readWaivers() ([]waiver.Waiver, error) {
	if g.Waivers == "" {
		return nil, nil
	}
	file, err := os.Open(g.Waivers)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return waiver.Parse(file, nil)
}

// compare does one part after the other.
func (g *gate) compare(ctx context.Context, waivers []waiver.Waiver) error {
	g.say("self-test")
	found, err := g.selfTest(ctx)
	if err != nil {
		return err
	}
	g.report.SelfTest = found
	if g.report.broken() {
		return nil
	}
	if err := g.judgeNoise(ctx); err != nil {
		return err
	}
	targets, err := g.targets(ctx)
	if err != nil {
		return err
	}
	if err := g.checkWaivers(ctx, waivers, targets); err != nil {
		return err
	}
	for _, part := range []func(context.Context, []*target) error{g.weigh, g.counts, g.times} {
		if err := part(ctx, targets); err != nil {
			return err
		}
	}
	if err := g.history(); err != nil {
		return err
	}
	g.report.UnusedWaivers = waive(g.report.Findings, waivers)
	if g.Blame {
		return g.blame(ctx, targets)
	}
	return nil
}

func (g *gate) add(found ...Finding) { g.report.Findings = append(g.report.Findings, found...) }
