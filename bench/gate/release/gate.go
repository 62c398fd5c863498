package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"eventide/bench/gate/waiver"
)

// Options say what is compared.
type Options struct {
	Root     string         // of the module: head
	Base     string         // a commit
	Rounds   int            // of the time tier
	Run      *regexp.Regexp // benchmarks by name; nil: all
	Tiers    []string       // nil: all
	Strict   bool           // a tool that is missing makes the run inconclusive
	Waivers  string         // file, from the root; it need not exist
	Progress io.Writer

	// For tests of the gate itself.
	benchmarks []Benchmark // nil: Benchmarks()
	slices     int         // 0: slicesPerRound
	withTools  func() []tool
	now        func() time.Time
}

// DefaultRounds is how many rounds the time tier takes.
const DefaultRounds = 20

// MinRounds is the least at which p < .01 can be reached after Holm's correction
// for some fifty figures.
const MinRounds = 10

// WaiverFile is where waivers are kept.
const WaiverFile = "testdata/gate/waivers"

// gate is one run.
type gate struct {
	Options
	n     int
	tools []tool
}

func (g *gate) say(format string, args ...any) {
	if g.Progress != nil {
		fmt.Fprintf(g.Progress, format+"\n", args...)
	}
}

// Run compares base and head, and removes the files that it has made. It returns an error if the
// comparison could not be made; then the report has no meaning.
func Run(ctx context.Context, o Options) (_ Report, err error) {
	g, err := newGate(o)
	if err != nil {
		return Report{}, err
	}
	waivers, err := g.readWaivers()
	if err != nil {
		return Report{}, err
	}
	g.say("checking out %s", o.Base)
	w, err := openWorkspace(ctx, g.Root, o.Base)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, known := range waivers {
		if err := known.Check(names(g.known()), g.now(), func(commit string) (bool, error) { return w.BaseContains(ctx, commit) }); err != nil {
			return Report{}, err
		}
	}
	began := time.Now()
	report, err := g.compare(ctx, w, waivers)
	report.Seconds = time.Since(began).Seconds()
	return report, err
}

func newGate(o Options) (*gate, error) {
	if o.withTools == nil {
		o.withTools = newTools
	}
	g := &gate{Options: o, n: o.Rounds, tools: o.withTools()}
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return nil, err
	}
	g.Root = root
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return nil, fmt.Errorf("root is %q, want the directory of the module: %w", o.Root, err)
	}
	if g.slices == 0 {
		g.slices = slicesPerRound
	}
	if g.now == nil {
		g.now = time.Now
	}
	if len(g.Tiers) == 0 {
		g.Tiers = Tiers
	}
	g.benchmarks = slices.DeleteFunc(slices.Clone(g.known()), func(b Benchmark) bool {
		return o.Run != nil && !o.Run.MatchString(b.Name)
	})
	switch {
	case o.Rounds < MinRounds:
		return nil, fmt.Errorf("%d rounds, want at least %d", o.Rounds, MinRounds)
	case len(g.benchmarks) == 0:
		return nil, fmt.Errorf("no benchmark matches %v", o.Run)
	}
	for _, t := range g.Tiers {
		if t != TierSelfTest && !slices.Contains(Tiers, t) {
			return nil, fmt.Errorf("tier is %q, want %s or one of %q", t, TierSelfTest, Tiers)
		}
	}
	return g, nil
}

// known are the benchmarks before any is chosen.
func (g *gate) known() []Benchmark {
	if g.Options.benchmarks != nil {
		return g.Options.benchmarks
	}
	return Benchmarks()
}

func names(all []Benchmark) []string {
	var n []string
	for _, b := range all {
		n = append(n, b.Name)
	}
	return n
}

func (g *gate) readWaivers() ([]waiver.Waiver, error) {
	file, err := os.Open(filepath.Join(g.Root, g.Waivers))
	if errors.Is(err, os.ErrNotExist) || g.Waivers == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return waiver.Parse(file, waiverMetrics)
}

// compare builds, and runs one tier after the other.
func (g *gate) compare(ctx context.Context, w *workspace, waivers []waiver.Waiver) (Report, error) {
	g.say("building base, head and the self-test")
	head, err := w.buildHead(ctx)
	if err != nil {
		return Report{}, err
	}
	planted, err := w.buildPlanted(ctx)
	if err != nil {
		return Report{}, err
	}
	base, err := w.buildBase(ctx)
	if err != nil {
		return Report{}, err
	}
	report, err := g.about(ctx, w)
	if err != nil {
		return report, err
	}
	report.Findings, err = g.selfTest(ctx, head, func(env ...string) subject {
		p := planted
		p.env = env
		return p
	})
	if err != nil || report.broken() {
		return report, err
	}
	for _, tier := range []func(context.Context, subject, subject) ([]Finding, error){g.exact, g.times, g.check} {
		found, err := tier(ctx, base, head)
		if err != nil {
			return report, err
		}
		report.Findings = append(report.Findings, found...)
	}
	for _, u := range waive(report.Findings, waivers) {
		report.UnusedWaivers = append(report.UnusedWaivers, u.String())
	}
	return report, nil
}

func (g *gate) chosen(tier string) bool { return slices.Contains(g.Tiers, tier) }

// notAsked returns the finding for a tier that was not requested.
func notAsked(tier string) []Finding {
	return []Finding{notRun(tier, "all", "all", "not requested")}
}

func (g *gate) exact(ctx context.Context, base, head subject) ([]Finding, error) {
	if !g.chosen(TierExact) {
		return notAsked(TierExact), nil
	}
	var found []Finding
	for _, b := range g.benchmarks {
		if b.ExactOps == 0 {
			continue
		}
		g.say("counting %s", b.Name)
		f, err := g.exactTier(ctx, b, base, head)
		if err != nil {
			failed, err := asFinding(TierExact, b.Name, err)
			if err != nil {
				return nil, err
			}
			f = []Finding{failed}
		}
		found = append(found, f...)
	}
	return found, nil
}

// times runs the time tier and the latency tier, which share their rounds.
func (g *gate) times(ctx context.Context, base, head subject) ([]Finding, error) {
	if !g.chosen(TierTime) && !g.chosen(TierLatency) {
		return slices.Concat(notAsked(TierTime), notAsked(TierLatency)), nil
	}
	found, err := g.timeTiers(ctx, g.benchmarks, base, head)
	if err != nil {
		return nil, err
	}
	for _, tier := range []string{TierTime, TierLatency} {
		if !g.chosen(tier) {
			found = slices.DeleteFunc(found, func(f Finding) bool { return f.Tier == tier })
			found = append(found, notAsked(tier)...)
		}
	}
	return found, nil
}

func (g *gate) timeTiers(ctx context.Context, benchmarks []Benchmark, base, head subject) ([]Finding, error) {
	byTier := map[string][]samples{}
	var found []Finding
	for _, b := range benchmarks {
		g.say("measuring %s", b.Name)
		all, err := g.rounds(ctx, b, base, head, g.n)
		if err != nil {
			failed, err := asFinding(TierTime, b.Name, err)
			if err != nil {
				return nil, err
			}
			found = append(found, failed)
			continue
		}
		for _, s := range all {
			byTier[s.tier()] = append(byTier[s.tier()], s)
		}
	}
	for _, tier := range []string{TierTime, TierLatency} {
		judged := judgeTimes(byTier[tier])
		if err := g.confirm(ctx, benchmarks, judged, base, head); err != nil {
			return nil, err
		}
		found = append(found, judged...)
	}
	return found, nil
}

// check runs the properties and the mutants of head.
func (g *gate) check(ctx context.Context, _, _ subject) ([]Finding, error) {
	var found []Finding
	for _, c := range checks {
		if !g.chosen(c.tier) {
			found = append(found, notAsked(c.tier)...)
			continue
		}
		g.say("%v", c.args)
		f, err := c.run(ctx, g.Root)
		if err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return found, nil
}
