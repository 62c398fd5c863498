package core_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// A timersCall is one call of a program of timers. Call number i is made at i milliseconds and a half, when no
// timer runs: bodies take no time, and timers are due at whole milliseconds, or one nanosecond before or after.
type timersCall struct {
	op     string // of timersOps
	of     int    // which timer is cancelled or moved: 0 is the last one, and -1-n is timer n
	due    int    // in milliseconds; of a hold: how long it takes
	shift  time.Duration
	period int      // in milliseconds
	inside []string // what the first run of the timer does: some of insideOps
}

var (
	timersOps = []string{"once", "once", "rate", "delay", "cancel", "cancel", "reset", "hold"}
	insideOps = []string{"once", "cancel", "reset", "cancel itself", "reset itself"}
)

// timersEnd is how the executor is shut down, and when.
type timersEnd struct {
	at             int // number of the call before which it is
	op             string
	quiet, timeout time.Duration
}

// TestPropG7TimersUntilTheEnd compares an executor, and a pool of one worker, with a specification of timers: when each of
// them runs, how it ends, what its methods return, and all counts, from the first call to the end by each policy
// (G7, G8, G10, G11, G20).
func TestPropG7TimersUntilTheEnd(t *testing.T) {
	shifts := rapid.SampledFrom([]time.Duration{-1, 0, 1})
	program := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) timersCall {
		return timersCall{
			op: rapid.SampledFrom(timersOps).Draw(t, "op"), of: rapid.IntRange(0, 9).Draw(t, "of"),
			due: rapid.IntRange(1, 9).Draw(t, "due"), shift: shifts.Draw(t, "shift"), period: rapid.IntRange(1, 4).Draw(t, "period"),
			inside: rapid.SliceOfN(rapid.SampledFrom(insideOps), 0, 3).Draw(t, "inside"),
		}
	}), 1, 20)
	rapid.Check(t, func(rt *rapid.T) {
		calls := program.Draw(rt, "calls")
		policy := rapid.SampledFrom(append(policies, core.RunTimersUntilTimeout)).Draw(rt, "policy")
		pool, traced := rapid.Bool().Draw(rt, "pool"), rapid.Bool().Draw(rt, "traced")
		end := timersEnd{at: rapid.IntRange(0, len(calls)).Draw(rt, "shutdown before call"), op: rapid.SampledFrom([]string{"graceful", "graceful", "now"}).Draw(rt, "shutdown")}
		if end.op == "graceful" {
			end.quiet = time.Duration(rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(rt, "quiet")) * time.Millisecond
			end.timeout = end.quiet + time.Duration(rapid.SampledFrom([]int{0, 1, 3, 9, 20}).Draw(rt, "timeout after it"))*time.Millisecond
			end.timeout += 500*time.Microsecond + shifts.Draw(rt, "shift of the timeout") // at a whole millisecond
			if end.quiet > 0 {
				end.quiet += 100 // it does not end at the timeout
			}
		}
		checkInBubble(t, rt, func(t *testing.T) string {
			p := &timersPlay{spec: &timersSpec{policy: policy, horizon: forever}, start: time.Now()}
			logger, log := textLogger()
			opts := []core.Option{core.WithTimersAtShutdown(policy), core.WithLogger(logger)}
			if traced {
				opts = append(opts, core.WithTracer(&p.traced))
			}
			if pool {
				p.ex = coretest.NewPool(t, 1, opts...)
			} else {
				p.ex = coretest.NewExecutor(t, opts...)
			}
			if wrong := p.run(t, calls, end); wrong != "" {
				return wrong
			}
			if n := len(strings.Fields(p.traced.text(core.EventTimerCancelled))); traced && int64(n) != p.spec.counts.TimersCancelled {
				return fmt.Sprintf("G20: %d ends of cancelled timers were traced, want %d", n, p.spec.counts.TimersCancelled)
			}
			if text := log.String(); strings.Contains(text, "panic") {
				return fmt.Sprintf("G14: nothing has panicked, and the log is %q", text)
			}
			return ""
		})
	})
}

// timersPlay makes the calls, and compares.
type timersPlay struct {
	ex    core.EventExecutor
	spec  *timersSpec
	start time.Time

	traced recorder

	mu   sync.Mutex // guards the fields below: the race detector does not see that time orders them
	real []*core.Timer
	log  []string
}

func (p *timersPlay) run(t *testing.T, calls []timersCall, end timersEnd) string {
	var ended time.Duration
	p.ex.Termination().OnDone(func(core.Report, error) { ended = time.Since(p.start) })
	for i := range len(calls) + 1 {
		time.Sleep(time.Until(p.start.Add(time.Duration(i)*time.Millisecond + 500*time.Microsecond)))
		synctest.Wait()
		p.spec.runTo(time.Since(p.start) + 1)
		if wrong := p.differs(); wrong != "" {
			return fmt.Sprintf("before call %d: %s", i, wrong)
		}
		if i == end.at {
			p.spec.shutDown(end)
			if end.op == "graceful" {
				coretest.MustShutdownGracefully(t, p.ex, end.quiet, end.timeout)
			} else {
				p.ex.Shutdown()
			}
			synctest.Wait()
			p.spec.runTo(time.Since(p.start) + 1)
		}
		if i < len(calls) {
			p.mu.Lock()
			p.log = append(p.log, p.call(calls[i]))
			p.mu.Unlock()
			p.spec.log = append(p.spec.log, p.spec.call(calls[i]))
		}
		synctest.Wait()
		p.spec.runTo(time.Since(p.start) + 1)
		if wrong := p.differs(); wrong != "" {
			return fmt.Sprintf("after call %d: %s", i, wrong)
		}
	}
	coretest.AwaitDone(t, p.ex)
	synctest.Wait() // the listener has returned
	p.spec.runTo(forever)
	switch r := p.ex.Termination().Report(); {
	case ended != p.spec.ended || r.TimedOut != p.spec.timedOut:
		return fmt.Sprintf("G10: it ended at %v, timed out %v; want %v, %v", ended, r.TimedOut, p.spec.ended, p.spec.timedOut)
	case r.TimersRun != p.spec.counts.TimersRun || r.TimersCancelled != p.spec.counts.TimersCancelled:
		return fmt.Sprintf("G20: the report is %+v, want %+v", r, p.spec.counts)
	}
	return p.differs()
}

// differs compares what is seen while no body runs, and the log of all calls and runs.
func (p *timersPlay) differs() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.ex.Stats()
	got := core.Stats{Timers: s.Timers, TimersScheduled: s.TimersScheduled, TimersEnded: s.TimersEnded, TimersCancelled: s.TimersCancelled, TimersRun: s.TimersRun}
	switch busy := p.spec.busyUntil > p.spec.now; {
	case !slices.Equal(p.log, p.spec.log):
		return fmt.Sprintf("G7, G8:\n%q, want\n%q", p.log, p.spec.log)
	case got != p.spec.counts && !busy: // a busy loop does not cancel
		return fmt.Sprintf("G20: %+v, want %+v", got, p.spec.counts)
	case busy:
		return ""
	}
	for i, timer := range p.real {
		of := p.spec.timers[i]
		deadline := time.Duration(-1)
		if at := timer.Deadline(); !at.IsZero() {
			deadline = at.Sub(p.start)
		}
		want := of.at
		if of.over {
			want = of.ranAt
		}
		over := false
		select {
		case <-timer.Done():
			over = true
		default:
		}
		if over != of.over || timer.Err() != of.err || deadline != want {
			return fmt.Sprintf("G7: timer %d is over %v with %v, its deadline %v; want %v, %v, %v", i, over, timer.Err(), deadline, of.over, of.err, want)
		}
	}
	return ""
}

// call makes a call, and returns its result. Requires mu.
func (p *timersPlay) call(c timersCall) string {
	now := time.Since(p.start)
	delay := c.delayAt(now)
	switch c.op {
	case "cancel", "reset":
		if len(p.real) == 0 {
			return "none"
		}
		timer := p.real[c.which(len(p.real))]
		if c.op == "cancel" {
			return fmt.Sprint("cancel ", timer.Cancel())
		}
		return fmt.Sprint("reset ", timer.Reset(delay))
	case "hold":
		if p.spec.busyUntil > p.spec.now {
			return "none"
		}
		return fmt.Sprint("hold ", p.ex.Execute(func() { time.Sleep(c.holds()) }) == nil)
	}
	var err error
	var timer *core.Timer
	n, first := len(p.real), true
	body := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.log = append(p.log, fmt.Sprintf("%d runs at %v", n, time.Since(p.start)))
		if first {
			for _, op := range c.inside {
				p.log = append(p.log, p.call(c.nested(op, n)))
			}
		}
		first = false
	}
	switch c.op {
	case "once":
		timer, err = p.ex.Schedule(delay, body)
	case "rate":
		timer, err = p.ex.ScheduleAtFixedRate(delay, c.every(), body)
	case "delay":
		timer, err = p.ex.ScheduleWithFixedDelay(delay, c.every(), body)
	}
	if err != nil {
		return "schedule false"
	}
	p.real = append(p.real, timer)
	return "schedule true"
}

// delayAt is the delay of a timer that is due at c.due, or now.
func (c timersCall) delayAt(now time.Duration) time.Duration {
	return max(now.Truncate(time.Millisecond)+time.Duration(c.due)*time.Millisecond+c.shift-now, 0)
}

// which is the number of the timer that is cancelled or moved, of n.
func (c timersCall) which(n int) int {
	if c.of < 0 {
		return -1 - c.of
	}
	return n - 1 - c.of%n
}

func (c timersCall) every() time.Duration { return time.Duration(c.period) * time.Millisecond }

// holds is how long a hold takes: it ends when nothing else happens.
func (c timersCall) holds() time.Duration {
	return time.Duration(c.due)*time.Millisecond + 800*time.Microsecond
}

// nested is a call that the first run of timer n makes, of a timer that is due at once or later.
func (c timersCall) nested(op string, n int) timersCall {
	op, itself := strings.CutSuffix(op, " itself")
	if !itself {
		return timersCall{op: op, of: c.of, due: c.due - 5, shift: c.shift}
	}
	return timersCall{op: op, of: -1 - n, due: c.due - 5, shift: c.shift}
}
