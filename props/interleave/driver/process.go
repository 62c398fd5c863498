package driver

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventide/props/interleave/protocol"
)

// A finding is a schedule that did not pass, as a process reported it.
type finding struct {
	protocol.Schedule
	Goroutines []protocol.Goroutine
	Cold       bool // the process had no warm-up
}

// where returns the innermost frames of the goroutines that wait, without those that
// wait in the test runner, sorted and each once.
func (f *finding) where(p *pkg) []string {
	seen := map[string]bool{}
	var frames []string
	for _, g := range f.Goroutines {
		if g.State == "running" || g.State == "ready" {
			continue
		}
		if frame := firstFrame(g.Stack, p); frame != "" && !seen[frame] {
			seen[frame] = true
			frames = append(frames, frame)
		}
	}
	sort.Strings(frames)
	return frames
}

// A process is one run of a controlled test binary.
type process struct {
	pkg     *pkg
	opts    *Options
	pattern string // -test.run
	request protocol.Request
	count   uint64
	stall   time.Duration // without progress, after which the process is killed; 0 for stallLimit
	most    time.Duration // after which the process is killed, and has found nothing; 0 is no limit
}

// An ending is how a process ended, and all records that it wrote.
type ending struct {
	pkg     *pkg
	finding *finding
	counts  protocol.Counts
	summary bool // counts are those of the end, not of the last progress
	ops     []protocol.Op
	born    map[uint64]string // functions of the goroutines of a trace
	outside []protocol.Outside
	hashes  []uint64 // of the schedules, at detail 1
	unused  uint64   // switches of a replay that were not met
	refused string
	output  string
	code    int
	hung    bool // killed, because it made no progress
	cut     bool // the records ended before the process did
	timeUp  bool // killed, because its time was over
	stalled *stall
	took    time.Duration
	cpu     time.Duration // processor time of the process
}

// turnOp is the name of an entry of a trace that is no operation: the turn moves from
// a goroutine that waits or has ended to another one.
const turnOp = "turn"

// Limits of a process.
const (
	stallLimit  = 20 * time.Second // without an operation and without a new schedule
	outputLimit = 1 << 20          // bytes of output that are kept
	opLimit     = 1 << 20          // operations of a trace that are kept
)

// start runs the process to its end.
func (p *process) start() (*ending, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	p.request.FD = 3
	args := append(p.opts.testFlags(p.pattern), p.request.TestFlags(int(p.count))...)
	if p.opts.Parallel > 0 {
		args = append(args, fmt.Sprint("-test.parallel=", p.opts.Parallel))
	}
	cmd := exec.Command(p.pkg.bin, append(args, p.opts.Args...)...)
	cmd.Dir = p.pkg.Dir
	cmd.Env = p.request.Environ(controlledEnv())
	cmd.ExtraFiles = []*os.File{write}
	out := &limitedBuffer{limit: outputLimit}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second // children may hold the output open
	begin := time.Now()
	err = startProcess(cmd)
	write.Close()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.pkg.bin, err)
	}
	defer endProcess(cmd)
	e := &ending{pkg: p.pkg, born: map[uint64]string{}}
	stalled := &stall{pid: cmd.Process.Pid, limit: p.stallLimit(), until: begin.Add(min(mostStalls*p.stallLimit(), p.opts.Timeout))}
	watch := newWatchdog(stalled.limit, stalled.over, func() { killGroup(cmd.Process.Pid) })
	var timeUp atomic.Bool
	if p.most > 0 {
		over := time.AfterFunc(p.most, func() {
			timeUp.Store(true)
			killGroup(cmd.Process.Pid)
		})
		defer over.Stop()
	}
	parseErr := protocol.Read(read, func(r protocol.Record) error { return e.take(r, watch) })
	err = cmd.Wait()
	if e.hung = watch.stop(); e.hung {
		e.stalled = stalled
	}
	e.timeUp = timeUp.Load() && e.finding == nil && !e.summary
	e.took, e.output = time.Since(begin), out.String()
	if cmd.ProcessState != nil {
		e.code = cmd.ProcessState.ExitCode()
		e.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	var exit *exec.ExitError
	switch {
	case e.refused != "":
		return nil, fmt.Errorf("the controlled process refused its request: %s", e.refused)
	case parseErr != nil:
		return nil, parseErr
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return nil, err
	}
	e.finish(p)
	return e, nil
}

func (p *process) stallLimit() time.Duration {
	if p.stall > 0 {
		return p.stall
	}
	return min(stallLimit, p.opts.Timeout)
}

// finish makes a finding of an ending that the process itself could not report.
func (e *ending) finish(p *process) {
	if e.finding != nil {
		e.finding.Cold = p.request.Cold
		slices.SortFunc(e.finding.Goroutines, func(a, b protocol.Goroutine) int { return cmp.Compare(a.Number, b.Number) })
	}
	if e.timeUp {
		return
	}
	if e.finding != nil || e.code == 0 && !e.hung {
		e.cut = e.finding == nil && !e.summary
		return
	}
	f := &finding{Schedule: protocol.Schedule{Seed: p.request.Seed, Number: e.counts.Number, Strategy: p.request.Strategy, Cut: true}, Cold: p.request.Cold}
	switch {
	case e.hung:
		f.Verdict, f.Message = e.stalled.finding()
	case e.code == -1:
		f.Verdict, f.Message = protocol.Exited, "the process was killed by a signal"
	default:
		f.Verdict, f.Message = protocol.Exited, fmt.Sprintf("the process ended with exit code %d outside of a schedule", e.code)
	}
	e.finding = f
}

func (e *ending) take(r protocol.Record, watch *watchdog) error {
	switch r.Kind {
	case protocol.KindError:
		e.refused = r.Text("text")
	case protocol.KindProgress, protocol.KindSummary:
		if e.summary {
			return nil // progress comes from another thread, and may come late
		}
		e.counts = protocol.CountsOf(r)
		e.summary = r.Kind == protocol.KindSummary
		watch.progress(e.counts)
	case protocol.KindSchedule:
		s, err := protocol.ScheduleOf(r)
		e.hashes = append(e.hashes, s.Hash)
		e.unused = r.Number("unused")
		return err
	case protocol.KindFinding:
		s, err := protocol.ScheduleOf(r)
		e.finding = &finding{Schedule: s}
		return err
	case protocol.KindGoroutine:
		if e.finding != nil {
			e.finding.Goroutines = append(e.finding.Goroutines, protocol.GoroutineOf(r))
		}
	case protocol.KindOp:
		op := protocol.OpOf(r)
		if op.Number == 1 {
			e.ops = e.ops[:0] // a schedule begins
		}
		if len(e.ops) < opLimit {
			e.ops = append(e.ops, op)
		}
	case protocol.KindValue:
		e.value(r.Number("g"), r.Text("v"))
	case protocol.KindTurn:
		if len(e.ops) < opLimit {
			e.ops = append(e.ops, protocol.Op{Name: turnOp, Goroutine: r.Number("g"), Next: r.Number("next")})
		}
	case protocol.KindBorn:
		e.born[r.Number("g")] = r.Text("func")
	case protocol.KindOutside:
		e.outside = append(e.outside, protocol.OutsideOf(r))
	}
	return nil
}

// value enters what the last operation of a goroutine found.
func (e *ending) value(g uint64, text string) {
	for i := len(e.ops) - 1; i >= 0; i-- {
		if e.ops[i].Goroutine == g && e.ops[i].Name != turnOp {
			e.ops[i].Value = text
			return
		}
	}
}

// testFlags are the flags of a test binary that the options ask for.
func (o *Options) testFlags(pattern string) []string {
	flags := []string{"-test.run=" + pattern, "-test.paniconexit0"}
	if o.Short {
		flags = append(flags, "-test.short")
	}
	if o.Skip != "" {
		flags = append(flags, "-test.skip="+o.Skip)
	}
	return flags
}

// controlledEnv is the environment without a request: a driver that itself runs under
// control must not pass its own request to its processes.
func controlledEnv() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, protocol.Env+"=") {
			env = append(env, v)
		}
	}
	return env
}

// A watchdog calls over whenever the counts have stayed the same for the limit. When
// over returns true, the watchdog calls kill, once.
type watchdog struct {
	mu        sync.Mutex
	limit     time.Duration
	timer     *time.Timer
	schedules uint64
	steps     uint64
	away      bool
	fired     bool
}

func newWatchdog(limit time.Duration, over func(away bool) bool, kill func()) *watchdog {
	w := &watchdog{limit: limit}
	w.mu.Lock() // the timer may expire before it is known
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !over(w.away) {
			w.timer.Reset(limit)
			return
		}
		w.fired = true
		kill()
	})
	return w
}

// progress restarts the limit if schedules or steps have changed.
func (w *watchdog) progress(c protocol.Counts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = c.Away
	if !w.fired && (c.Schedules != w.schedules || c.Steps != w.steps) {
		w.schedules, w.steps = c.Schedules, c.Steps
		w.timer.Reset(w.limit)
	}
}

// stop ends the watchdog and says whether it has fired.
func (w *watchdog) stop() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	return w.fired
}

// A limitedBuffer keeps the first and the last half of its limit.
type limitedBuffer struct {
	mu    sync.Mutex
	limit int
	head  bytes.Buffer
	tail  []byte
	lost  int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(p)
	if room := b.limit/2 - b.head.Len(); room > 0 {
		k := min(room, len(p))
		b.head.Write(p[:k])
		p = p[k:]
	}
	b.tail = append(b.tail, p...)
	if over := len(b.tail) - b.limit/2; over > b.limit/2 { // amortised: cut at twice the half
		b.lost += over
		b.tail = append(b.tail[:0], b.tail[over:]...)
	}
	return n, nil
}

func (b *limitedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost > 0 {
		return b.head.String() + fmt.Sprintf("\n... %d bytes left out ...\n", b.lost) + string(b.tail)
	}
	return b.head.String() + string(b.tail)
}
