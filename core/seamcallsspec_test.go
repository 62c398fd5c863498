package core_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

// seamClock is the system's clock, of which each call is a moment.
type seamClock struct{ *seams }

func (c seamClock) Now() time.Time {
	c.pass()
	return time.Now()
}

func (c seamClock) AfterFunc(d time.Duration, f func()) core.Alarm {
	c.pass()
	return seamAlarm{time.AfterFunc(d, f), c.seams}
}

type seamAlarm struct {
	*time.Timer
	*seams
}

func (a seamAlarm) Stop() bool {
	a.pass()
	return a.Timer.Stop()
}

func (a seamAlarm) Reset(d time.Duration) bool {
	a.pass()
	return a.Timer.Reset(d)
}

// seamPoller is a poller of which each call is a moment.
type seamPoller struct {
	*pollertest.Model
	*seams
}

func (p seamPoller) Wait(until core.Deadline) error {
	p.pass()
	defer p.pass()
	return p.Model.Wait(until)
}

func (p seamPoller) Poll() error {
	p.pass()
	defer p.pass()
	return p.Model.Poll()
}

func (p seamPoller) Reopen() error {
	p.pass()
	defer p.pass()
	return p.Model.Reopen()
}

func (p seamPoller) Close() error {
	defer p.pass()
	return p.Model.Close()
}

// TestPropG2CallsBesideUserCode: whatever another goroutine calls while the loop calls its user's code, each accepted task
// runs once, and nothing but the lock orders the two.
func TestPropG2CallsBesideUserCode(t *testing.T) {
	begun := 0
	rapid.Check(t, func(rt *rapid.T) {
		p := drawSeams(rt)
		for range 4 { // the goroutines meet at other places each time
			s := &seams{seamProgram: p}
			wrong := ""
			synctest.Test(t, func(*testing.T) { wrong = s.run() })
			if wrong != "" {
				rt.Fatal(wrong)
			}
			begun += s.begun()
		}
	})
	if begun == 0 && !t.Failed() {
		t.Error("no call has begun beside user code, so the property has shown nothing")
	}
}

func drawSeams(rt *rapid.T) seamProgram {
	p := seamProgram{
		kind:     rapid.SampledFrom([]string{"executor", "loop", "pool"}).Draw(rt, "kind"),
		every:    rapid.IntRange(1, 4).Draw(rt, "every"),
		own:      rapid.Bool().Draw(rt, "bodies call"),
		late:     rapid.IntRange(0, 4).Draw(rt, "late"),
		failures: rapid.IntRange(0, 3).Draw(rt, "failures"),
		reopens:  rapid.IntRange(0, 3).Draw(rt, "reopens") > 0,
	}
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(seamCalls))), 1, 30).Draw(rt, "calls") {
		p.calls = append(p.calls, seamCalls[name])
	}
	for _, name := range []string{"clock", "logger", "panics", "policy", "poller", "tracer"} {
		if p.kind == "loop" && name == "poller" || rapid.IntRange(0, 2).Draw(rt, name) > 0 {
			p.options = append(p.options, name)
		}
	}
	return p
}

var errReopen = errors.New("the poller cannot be opened again")

// optionsOf returns the options of the program. A pool has no poller.
func (s *seams) optionsOf() (opts []core.Option) {
	s.model = pollertest.NewModel(nil) // its channels belong to the bubble
	for _, name := range s.options {
		switch name {
		case "clock":
			opts = append(opts, core.WithClock(seamClock{s}))
		case "tracer":
			opts = append(opts, core.WithTracer(tracerFunc(func(core.Event) { s.pass() })))
		case "logger":
			opts = append(opts, core.WithLogger(coretest.OnMessage(s.pass)))
		case "panics":
			opts = append(opts, core.WithPanicHandler(func(*core.PanicError) { s.pass() }))
		case "policy":
			opts = append(opts, core.WithTimersAtShutdown(core.CancelTimers))
		case "poller":
			if s.kind != "pool" {
				opts = append(opts, core.WithPoller(seamPoller{s.model, s}))
			}
		}
	}
	return opts
}

// run makes the executor, uses it, and returns what was wrong.
func (s *seams) run() (wrong string) {
	err := s.make(s.optionsOf())
	if err != nil {
		return err.Error()
	}
	s.shared = core.NewPromise[int](s.ex)
	s.timer, err = s.ex.Schedule(time.Hour, s.body)
	if err != nil {
		return err.Error()
	}
	for range s.failures {
		s.model.Fail(pollertest.Wait, errWait)
	}
	if !s.reopens {
		s.model.Fail(pollertest.Reopen, errReopen)
	}
	s.open.Store(true)
	_, _ = s.ex.Schedule(30*time.Millisecond, s.body)
	for range 4 { // the loop sleeps between two tasks, and timers become due
		s.execute()
		time.Sleep(10 * time.Millisecond) // of the bubble
	}
	s.execute()
	if _, err := s.ex.ShutdownGracefully(time.Millisecond, time.Second); err != nil {
		return err.Error()
	}
	<-s.ex.Termination().Done()
	synctest.Wait()
	s.running.Wait()
	if ran, accepted := s.ran.Load(), s.accepted.Load(); ran != accepted {
		return fmt.Sprintf("G3: %d tasks ran, want %d, which were accepted", ran, accepted)
	}
	return ""
}

func (s *seams) make(opts []core.Option) (err error) {
	switch s.kind {
	case "executor":
		s.ex, err = core.NewExecutor(opts...)
	case "loop":
		s.ex, err = core.NewEventLoop(opts...)
	case "pool":
		s.ex, err = core.NewPool(2, opts...)
	}
	return err
}
