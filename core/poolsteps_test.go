package core_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// poolOp is a step of TestPropPoolSteps.
type poolOp struct {
	op  string // of poolOps
	how string // of stepCall
	n   int    // which of the timers or hooks
	d   time.Duration
	e   time.Duration
}

// The first ones and the last one are drawn most often.
var poolOps = strings.Fields("pass lazy listener graceful execute schedule hook release pass rate delay cancel reset again submit try skip fill hook remove " +
	"listener schedule cancel reset wrong running graceful release pass shutdown lazy execute pass")

var (
	errOfAPanic = errors.New("a panic") // stands for any *PanicError
	errOfAStart = errors.New("no goroutine")
)

// TestPropPoolSteps compares a pool of one worker with poolModel, one call at a time: what each call returns, each event of
// the trace with its fields, the Stats, the Report, and each timer (G1 to G13, G20, G24).
func TestPropPoolSteps(t *testing.T) {
	tens := func(t *rapid.T, label string) time.Duration {
		return time.Duration(rapid.SampledFrom([]int{1, 2, 0, 3, 4}).Draw(t, label)) * 10 * time.Millisecond
	}
	program := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) poolOp {
		return poolOp{
			rapid.SampledFrom(poolOps).Draw(t, "op"), rapid.SampledFrom([]string{"", "", "", "panic", "panic panic", "panic exit", "exit", "block", "block"}).Draw(t, "how"),
			rapid.IntRange(0, 5).Draw(t, "n"), tens(t, "d"), tens(t, "e"),
		}
	}), 5, 40)
	rapid.Check(t, func(rt *rapid.T) {
		ops, policy := program.Draw(rt, "steps"), rapid.SampledFrom([]core.TimersAtShutdown{core.CancelTimers, core.RunDueTimers, core.RunTimersUntilTimeout, core.RunTimersUntilTimeout}).Draw(rt, "policy")
		owned, failures := rapid.Bool().Draw(rt, "clock of the user"), rapid.SampledFrom([]int{0, 0, 0, 1, 2, 9}).Draw(rt, "failed starts")
		checkInBubble(t, rt, func(t *testing.T) string { return runPoolSteps(t, policy, owned, failures, ops) })
	})
}

// poolRun is a pool beside its model.
type poolRun struct {
	*poolModel
	pool     *core.Pool
	began    time.Time
	over     context.Context
	starts   chan struct{} // lets the worker begin
	calls    int           // of the spawner, that did not fail
	fails    int           // calls of the spawner that are still to fail
	gate     chan string   // of the body that blocks: how it ends
	removes  []func() bool
	timeouts atomic.Int64 // that were logged
	ids      int          // of the calls of bodies

	mu     sync.Mutex
	traced []string
}

func (r *poolRun) Trace(ev core.Event) {
	text := word(ev)
	switch ev.Kind {
	case core.EventState:
		text = fmt.Sprintf("%v->%v(%v)", ev.From, ev.To, ev.Reason)
	case core.EventPark:
		text = fmt.Sprintf("park(%v until %v, timer at %v, queued %d)", ev.To, max(-1, ev.Until), max(-1, ev.NextTimer), ev.Queued)
	}
	r.trace(text)
}

func (r *poolRun) trace(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.traced = append(r.traced, text)
}

// runPoolSteps returns a description of the first difference, or "".
func runPoolSteps(t *testing.T, policy core.TimersAtShutdown, owned bool, failures int, ops []poolOp) string {
	r := &poolRun{
		fails:     failures,
		poolModel: &poolModel{policy: policy, limit: 16, failures: failures, until: never, alarm: never, timeoutAt: never, horizon: never, stats: core.Stats{State: core.StateNotStarted}},
		began:     time.Now(), starts: make(chan struct{}), gate: make(chan string),
	}
	var cancel func()
	r.over, cancel = context.WithCancel(context.Background())
	cancel()
	opts := []core.Option{
		core.WithName("bakery"), core.WithTracer(r), core.WithTimersAtShutdown(policy), core.WithMaxPendingTasks(r.limit),
		core.WithLogger(newHooked(r.logged)), core.WithPanicHandler(func(p *core.PanicError) {
			_, how, _ := strings.Cut(p.Value.(string), " ")
			r.call(stepCall{0, how})
		}),
		core.WithSpawner(func(loop func()) error {
			if r.fails > 0 {
				r.fails--
				return errOfAStart
			}
			r.calls++
			first := r.calls == 1
			go func() {
				if first {
					<-r.starts // after the call that starts the worker has posted
				}
				loop()
			}()
			return nil
		}),
	}
	if owned {
		opts = append(opts, core.WithClock(slowAlarms{}))
	}
	p, err := core.NewPool(1, opts...)
	coretest.Must(t, err)
	r.pool = p
	wrong := ""
	for i, op := range ops {
		if wrong = r.step(t, op); wrong != "" {
			wrong = fmt.Sprintf("step %d, %+v: %s", i, op, wrong)
			break
		}
	}
	p.Shutdown()
	for !isClosed(p.Termination().Done()) {
		select {
		case r.gate <- "":
		case r.starts <- struct{}{}:
		case <-p.Termination().Done():
		}
	}
	return wrong
}

// step makes a step on both, and compares them.
func (r *poolRun) step(t *testing.T, op poolOp) string {
	got, want := r.do(t, op)
	if got != want {
		return fmt.Sprintf("it returns %v, want %v", got, want)
	}
	r.settle()
	synctest.Wait()
	select {
	case r.starts <- struct{}{}:
		synctest.Wait()
	default:
	}
	return r.differs()
}

// wrong makes a call with a wrong argument, and returns its error.
func (r *poolRun) wrong(n int) (err error) {
	p, body := r.pool, func() {}
	switch n {
	case 0:
		err = cmp.Or(p.Execute(nil), p.ExecuteLazy(nil))
	case 1:
		err = p.TryExecute(nil)
	case 2:
		_, err = p.AddShutdownHook(nil)
	case 3:
		_, err = p.ScheduleAtFixedRate(-1, 1, body)
	case 4:
		_, err = p.ScheduleWithFixedDelay(1, 0, body)
	default:
		_, err = p.ShutdownGracefully(2, 1)
	}
	return err
}

// call is a call of a body of the pool.
func (r *poolRun) call(c stepCall) {
	r.trace(fmt.Sprintf("call %d", c.id))
	if !r.pool.InEventLoop() {
		r.trace("G18: the call is not in the event loop")
	}
	how := c.how
	if how == "block" {
		how = <-r.gate
	}
	switch {
	case how == "exit":
		runtime.Goexit()
	case how != "":
		panic(how)
	}
}

func (r *poolRun) logged(message string) {
	switch message {
	case "panic in the panic handler", "the pool could not be started for the shutdown":
		r.trace(message)
	case "timeout of the graceful shutdown passed":
		r.timeouts.Add(1)
	}
}

// differs compares what the pool shows with the model.
func (r *poolRun) differs() string {
	r.mu.Lock()
	traced, want := r.traced, r.events
	r.traced, r.events = nil, nil
	r.mu.Unlock()
	if !slices.Equal(traced, want) {
		return fmt.Sprintf("the trace is\n%s\nwant\n%s", strings.Join(traced, "\n"), strings.Join(want, "\n"))
	}
	r.stats.Hooks = int64(len(r.hooks))
	if got := r.pool.Stats(); got != r.stats {
		return fmt.Sprintf("G20: the stats are\n%+v, want\n%+v", got, r.stats)
	}
	s := r.stats
	report := core.Report{
		Accepted: s.Accepted, Ran: s.Ran, Cancelled: s.Cancelled, Rejected: s.Rejected - r.lateRejected, Panicked: s.Panicked,
		HooksRun: s.HooksRun, TimersRun: s.TimersRun, TimersCancelled: s.TimersCancelled,
		Quiet: r.quiet, Timeout: r.timeout, TimedOut: r.closedBy == core.ErrShutdownTimeout,
	}
	switch {
	case s.State == core.StateTerminated:
		report.Elapsed = r.end - r.calledAt
	case r.called:
		report.Elapsed = r.now - r.calledAt
	}
	got := r.pool.Termination().Report()
	if !strings.HasPrefix(got.Running, r.running) || (got.Running == "") != (r.running == "") {
		return fmt.Sprintf("G11: the report has %q running, want %q", got.Running, r.running)
	}
	if got.Running = ""; got != report {
		return fmt.Sprintf("G20: the report is\n%+v, want\n%+v", got, report)
	}
	if cause, err := context.Cause(r.pool.Context()), r.pool.Termination().Err(); cause != r.closedBy || err != r.endErr {
		return fmt.Sprintf("G11: the cause of the context is %v, the error of the end %v, want %v, %v", cause, err, r.closedBy, r.endErr)
	}
	wait := context.Canceled
	if s.State == core.StateTerminated {
		wait = r.endErr
	}
	if err := r.pool.AwaitTermination(r.over); err != wait {
		return fmt.Sprintf("G18: AwaitTermination returns %v, want %v", err, wait)
	}
	if n := r.pool.Launches(); n != 0 {
		return fmt.Sprintf("G24: %d calls of the spawner are in progress, want none", n)
	}
	if n := r.timeouts.Load(); n != r.logs {
		return fmt.Sprintf("G11: %d timeouts were logged, want %d", n, r.logs)
	}
	if name, want := r.pool.String(), fmt.Sprintf("bakery (%v)", s.State); name != want || r.pool.InEventLoop() {
		return fmt.Sprintf("the pool is %q, want %q; the caller is in the event loop %v", name, want, r.pool.InEventLoop())
	}
	for i, timer := range r.timers {
		if wrong := timer.differs(r.began); wrong != "" {
			return fmt.Sprintf("timer %d: %s", i, wrong)
		}
	}
	return ""
}

func (t *stepTimer) differs(began time.Time) string {
	err := t.timer.Err()
	var panicked *core.PanicError
	if errors.As(err, &panicked) {
		err = errOfAPanic
	}
	at := t.at
	if t.runs {
		at = t.ranAt
	}
	deadline := never
	if d := t.timer.Deadline(); !d.IsZero() {
		deadline = int64(d.Sub(began))
	}
	if err != t.err || deadline != at {
		return fmt.Sprintf("G7, G8: it is at %d and has the error %v, want %d, %v", deadline, err, at, t.err)
	}
	return ""
}
