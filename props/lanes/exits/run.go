//go:build linux

package exits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	stdnet "net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"eventide/core"
	"eventide/core/process"
	"eventide/props/lanes/exits/calls/net"
	"eventide/props/lanes/exits/calls/signal"
	"eventide/props/lanes/sockets/kernel"
)

// run is one execution of a program.
type run struct {
	p      *Program
	want   *exit
	began  time.Time
	health *process.Health
	log    *journal
	k      *kernel.Kernel

	mu         sync.Mutex
	violations []string
	events     []event
	took       time.Duration            // of process.RunReport
	executors  map[int]process.Executor // by step
	members    map[int]core.EventExecutor
	servers    map[int]*server
	hijacked   []stdnet.Conn // that handlers have left open
	others     sync.WaitGroup
	cancel     context.CancelCauseFunc // of the context of Run
}

func (r *run) violate(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.violations = append(r.violations, fmt.Sprintf("%v  ", time.Since(r.began))+fmt.Sprintf(format, args...))
}

// Run runs a program and returns what it violated. It must be called in a testing/synctest bubble.
func Run(p Program) (violations []string, err error) {
	return runOf(p).violations, nil
}

func runOf(p Program) *run {
	r := &run{p: &p, want: predict(&p), began: time.Now(), health: &process.Health{StuckAfter: ms(p.StuckAfter)},
		executors: map[int]process.Executor{}, members: map[int]core.EventExecutor{}, servers: map[int]*server{}, k: kernel.New(kernel.Config{})}
	r.log = &journal{kind: p.Logger, record: r.record, check: r.checkRecordContext}
	kernel.Use(r.k)
	got := net.Use(p.Manager.Broken, p.Manager.Unset, func(d net.Datagram) { r.record("Run", "tells the service manager %q", d.Text) })
	r.setenv()
	signal.IgnoresPipe = p.IgnoresPipe
	r.makeBadCall()
	r.makeListeners()
	ctx, plan := r.context(), r.plan()
	for i, s := range p.Sent {
		r.at(signalAt(&p, i), func() {
			r.record(outside, "%v arrives", s.Signal)
			signal.Deliver(s.Signal)
		})
	}
	for i := range p.Probes {
		r.at(probeAt(&p, i), func() { r.probe(i) })
	}
	report := process.RunReport(ctx, plan)
	r.took = time.Since(r.began)
	r.record("Run", "returns: exit code %d", report.Code)
	r.judge(report, r.took)
	r.judgeManager(got())
	if n := signal.Subscriptions(); n != 0 {
		r.violate("G24: %d subscriptions of signals are left", n)
	}
	r.release()
	if n := net.Open(); n != 0 {
		r.violate("G24: %d sockets are open", n)
	}
	return r
}

// at calls f at a time of the program.
func (r *run) at(d time.Duration, f func()) {
	r.others.Go(func() {
		time.Sleep(time.Until(r.began.Add(d)))
		f()
	})
}

// release ends what the exit has left behind.
func (r *run) release() {
	r.closeServers()
	for i, ex := range r.executors {
		ex.Shutdown()
		if r.p.Steps[i].Kind == "own" {
			ownOf(ex).finish()
		}
	}
	for _, ex := range r.executors {
		<-ex.Termination().Done()
	}
	r.others.Wait()
	r.cancel(nil)
	time.Sleep(24 * time.Hour) // functions that ignore their context, and a handler that blocks
	r.judgeServers()
}

func (r *run) setenv() {
	m := r.p.Manager
	pid := map[string]string{"own": strconv.Itoa(os.Getpid()), "other": "1"}[m.Pid]
	usec := ""
	if m.Watchdog > 0 {
		usec = strconv.FormatInt(ms(m.Watchdog).Microseconds(), 10)
	}
	for name, value := range map[string]string{"NOTIFY_SOCKET": m.Address, "WATCHDOG_PID": pid, "WATCHDOG_USEC": usec} {
		if err := os.Setenv(name, value); err != nil {
			r.violate("Setenv: %v", err)
		}
	}
}

var errContext = errors.New("the context of the program")

func (r *run) context() context.Context {
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), valueKey{}, "value"))
	r.cancel = cancel
	switch r.p.Cancel {
	case -1:
	case 0:
		cancel(errContext)
	default:
		r.at(cancelAt(r.p), func() {
			r.record(outside, "the context of Run ends")
			cancel(errContext)
		})
	}
	return ctx
}

// valueKey is where the context of Run has a value.
type valueKey struct{}

func (r *run) plan() process.Plan {
	p := r.p
	plan := process.Plan{PreDrain: p.preDrain(), Deadline: p.deadline(), Health: r.health, Logger: slog.New(r.log)}
	if set := signalSets[p.Signals]; set != nil {
		plan.Signals = []os.Signal{}
		for _, s := range set {
			plan.Signals = append(plan.Signals, s)
		}
	}
	if p.NotReady >= 0 {
		plan.NotReady = func() {
			r.record("NotReady", "begins")
			time.Sleep(p.notReadyTakes())
			_ = r.end("NotReady", p.NotReadyEnd)
		}
	}
	if p.Start != nil {
		plan.Start = r.start(0, p.Start)
	} else {
		for i := range p.Starts {
			plan.Starts = append(plan.Starts, process.Part{Name: p.startName(i), Start: r.start(i, &p.Starts[i])})
		}
	}
	for i := range p.Steps {
		plan.Steps = append(plan.Steps, r.step(i))
	}
	return plan
}

// alike is an error that is context.Canceled, and wraps nothing.
type alike struct{}

func (alike) Error() string        { return "the program was cancelled" }
func (alike) Is(target error) bool { return target == context.Canceled }

var errEnd = errors.New("an end of the program")

// end ends a function as the program says.
func (r *run) end(who, how string) error {
	r.record(who, "ends: %s", cmp.Or(how, "without an error"))
	switch how {
	case endsFailed:
		return errEnd
	case endsPanic:
		panic(errEnd)
	case endsGoexit:
		runtime.Goexit()
	}
	return nil
}

// start returns a function of Plan.Start or Plan.Starts.
func (r *run) start(i int, s *Start) func(context.Context) error {
	return func(ctx context.Context) error {
		name := r.p.startName(i)
		r.record(name, "begins")
		r.checkContext("Start", ctx)
		if exiting, err := process.Exiting(ctx); err != nil {
			r.violate("Exiting failed with %v", err)
		} else {
			context.AfterFunc(exiting, func() {
				if at := time.Since(r.began); at != r.want.begin && ctx.Err() == nil {
					r.violate("the context of Exiting ends at %v, want %v, the begin of the exit", at, r.want.begin)
				}
			})
		}
		if s.Ready >= 0 && s.readyAt(i) < s.takes(i) {
			r.at(s.readyAt(i), func() {
				r.record(name, "calls Ready")
				for range 2 { // a second call has no effect
					if err := process.Ready(ctx); err != nil {
						r.violate("Ready failed with %v", err)
					}
				}
			})
		}
		left := time.NewTimer(time.Until(r.began.Add(s.takes(i))))
		defer left.Stop()
		if !s.Heeds {
			<-left.C
			return r.end(name, s.End)
		}
		select {
		case <-left.C:
			return r.end(name, s.End)
		case <-ctx.Done():
		}
		r.record(name, "ends, because its context has ended: %v", context.Cause(ctx))
		switch s.Ended {
		case "cause":
			return fmt.Errorf("wrapped: %w", context.Cause(ctx))
		case "canceled":
			return ctx.Err()
		case "both":
			return errors.Join(context.Cause(ctx), ctx.Err())
		case "alike":
			return alike{}
		case "joined":
			return errors.Join(context.Cause(ctx), errEnd)
		case endsFailed:
			return errEnd
		}
		return nil
	}
}

// checkContext checks what holds in a function of the plan: its context, and that a broken pipe does not
// kill the process.
func (r *run) checkContext(what string, ctx context.Context) {
	if signal.Wanted(syscall.SIGPIPE) == r.p.IgnoresPipe {
		r.violate("the process has subscribed to SIGPIPE: %v, and was started with it ignored: %v", !r.p.IgnoresPipe, r.p.IgnoresPipe)
	}
	if ctx.Value(valueKey{}) != "value" {
		r.violate("the context of %s has not the values of that of Run", what)
	}
}

// checkRecordContext checks the context of a record: it has the values of that of Run, and does not end with it.
func (r *run) checkRecordContext(what string, ctx context.Context) {
	if ctx.Value(valueKey{}) != "value" {
		r.violate("the context of %s has not the values of that of Run", what)
	}
	if err := ctx.Err(); err != nil {
		r.violate("the context of %s has ended: %v", what, err)
	}
}

func (r *run) step(i int) process.Step {
	s := &r.p.Steps[i]
	step := process.Step{Name: stepName(i), Quiet: ms(s.Quiet), Timeout: ms(s.Timeout), Drain: ms(s.Drain), Deadline: s.deadline()}
	var members []core.EventExecutor
	switch s.Kind {
	case "run":
		step.Run = func(ctx context.Context) error {
			r.record(stepName(i), "begins")
			r.checkContext("a step", ctx)
			left := time.NewTimer(s.takes(i))
			defer left.Stop()
			if s.Heeds {
				select {
				case <-left.C:
				case <-ctx.Done():
					r.checkCause(i, ctx)
				}
			} else {
				<-left.C
			}
			return r.end(stepName(i), s.End)
		}
		return step
	case "graceful":
		made := process.Graceful(&gracefulServer{stop: make(chan struct{}), wait: func(stopped <-chan struct{}) {
			left := time.NewTimer(s.takes(i))
			defer left.Stop()
			select {
			case <-left.C:
			case <-stopped:
			}
			if r.end(stepName(i), s.End) != nil {
				panic(errEnd)
			}
		}})
		made.Name, made.Deadline = step.Name, step.Deadline
		return made
	case "http":
		return r.httpStep(i, step.Deadline)
	case "own":
		ex := r.own(i)
		step.Executor, r.executors[i] = ex, ex
		return step
	case "group":
		g, err := core.NewExecutorGroup(2)
		if err != nil {
			panic(err)
		}
		step.Executor = g
		for ex := range g.All() {
			members = append(members, ex)
		}
	default:
		ex, err := core.NewExecutor()
		if err != nil {
			panic(err)
		}
		step.Executor, members = ex, []core.EventExecutor{ex}
	}
	for _, ex := range members {
		for range s.Tasks {
			if err := ex.Execute(func() { time.Sleep(s.length(i)) }); err != nil {
				panic(err)
			}
		}
	}
	r.executors[i], r.members[i] = step.Executor, members[0]
	return step
}

// checkCause checks why the context of a step has ended.
func (r *run) checkCause(i int, ctx context.Context) {
	cause, at := context.Cause(ctx), time.Since(r.began)
	var second *process.SignalError
	switch {
	case errors.As(cause, &second):
		if at != r.want.forced || !second.Second {
			r.violate("step %d: its context ends with %v at %v, want the second signal at %v", i, cause, at, r.want.forced)
		}
	case cause == process.ErrDeadline && at == r.want.deadline:
	case cause == process.ErrStepDeadline && at < r.want.deadline:
	default:
		r.violate("step %d: its context ends with %v at %v; the deadline of the exit is at %v", i, cause, at, r.want.deadline)
	}
}

// answer returns the status and the text of a probe.
func answer(h http.Handler) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return w.Code, w.Body.String()
}

// executor is one executor of a step.
func (r *run) executor(i int) core.EventExecutor { return r.members[i] }

// number is that of a signal.
func number(s os.Signal) int { return int(s.(syscall.Signal)) }
