package tracked_test

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/tracked"

	"pgregory.net/rapid"
)

func init() {
	// A mechanical mutant must not be found by what another one has left behind.
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "3s"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}

// life is what is done with a group, from its making to its end.
type life struct {
	Zero    bool   // the zero Group: none of the options
	Name    string // of WithName
	Context string // of WithContext: "" without, "nil", or "ended" with a value in it
	Logger  string // of WithLogger: "" without, "nil", "own", or "broken": it panics with each record
	Handler string // of WithErrorHandler: "" without, "nil", "keeps", "panics", "exits", or "shuts" the group down
	Crowd   bool   // many other goroutines, with deep stacks
	Steps   []step
}

// step is one call, by a goroutine of its own or inside of a function.
type step struct {
	Wait           time.Duration // before it; no two waits of a life are a whole number of seconds apart
	Do             string
	Beside         bool // all getters are called at the same time
	Number         int  // a limit, or which call gets a nil function, or which getter comes first
	Quiet, Timeout time.Duration
	Body           function
}

// function is what a function of the group does.
type function struct {
	Name  string
	Steps []step
	Last  time.Duration // the wait before its end
	End   string
}

// drawer draws a life.
type drawer struct {
	*rapid.T
	waits int
}

func (d *drawer) one(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(d.T, label)
}

func (d *drawer) number(label string, most int) int { return rapid.IntRange(0, most).Draw(d.T, label) }

// wait is some seconds and a part of a second that no other wait of the life has, so that no two
// calls or timers fall together.
func (d *drawer) wait() time.Duration {
	d.waits++
	x := uint64(d.waits) * 0x9e3779b97f4a7c15
	x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
	return time.Duration(d.number("seconds", 4))*time.Second + 1 + time.Duration((x^x>>32)%uint64(time.Second-1))
}

func (d *drawer) life() life {
	l := life{
		Zero: d.number("zero", 2) == 0, Name: d.one("name", "", "workers"), Context: d.one("context", "", "nil", "ended"),
		Logger: d.one("logger", "own", "own", "broken", "", "nil"), Handler: d.one("handler", "", "", "nil", "keeps", "panics", "exits", "shuts"),
		Crowd: d.number("crowd", 15) == 0,
	}
	if l.Zero {
		l.Name, l.Context, l.Logger, l.Handler = "", "", "", ""
	}
	for range 1 + d.number("steps", 12) {
		l.Steps = append(l.Steps, d.step(d.one("do", "go", "go", "go", "try", "try", "execute", "none", "limit", "limit", "graceful",
			"graceful", "shutdown", "close", "await", "await", "listen", "look", "tie", "tie"), 2))
	}
	return l
}

// step draws the arguments of a call. depth is how deep functions may still submit functions.
func (d *drawer) step(do string, depth int) step {
	s := step{Wait: d.wait(), Do: do, Beside: d.number("beside", 4) == 0, Number: d.number("number", 7)}
	switch do {
	case "go", "try", "execute", "tie":
		s.Body = d.function(do, depth-1)
	case "limit":
		s.Number = rapid.SampledFrom([]int{-2, -1, 0, 1, 1, 2, 3}).Draw(d.T, "limit")
	case "graceful":
		s.Quiet = time.Duration(rapid.SampledFrom([]int{0, 0, 1, 2, 3, 5, -1}).Draw(d.T, "quiet")) * time.Second
		s.Timeout = s.Quiet + time.Duration(rapid.SampledFrom([]int{0, 1, 3, 5, 8, 20, -1}).Draw(d.T, "timeout"))*time.Second
	case "await":
		if s.Timeout = d.wait(); s.Number == 0 {
			s.Timeout = 0 // its context has ended before the call
		}
	}
	return s
}

func (d *drawer) function(do string, depth int) function {
	f := function{Name: d.one("name", "", "a", "a", "b"), End: d.one("end", "", "", "", "error", "panic", "exit", "wrapped", "old")}
	if do == "execute" {
		f.Name = ""
	}
	for range d.number("inside", 2*depth) {
		inside := d.one("do inside", "go", "try", "execute", "none", "limit", "graceful", "shutdown", "close", "await", "listen", "look", "context", "context", "begun", "begun")
		f.Steps = append(f.Steps, d.step(inside, depth))
	}
	f.Last = d.wait()
	return f
}

// TestPropLives: whatever functions a group gets from outside and from its own functions, whatever
// they do and however they end, under every limit and shutdown: each call returns what the
// specification says at the time it says, each getter agrees with it after each call, and so do the
// contexts, the log, the error handler and the listeners.
func TestPropLives(t *testing.T) {
	log := &recorder{}
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(log))
	lives, tied := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for range 8 {
			d := drawer{T: rt}
			plan := rapid.Custom(func(t *rapid.T) life { d.T = t; return d.life() }).Draw(rt, "life")
			var l *living
			synctest.Test(t, func(t *testing.T) {
				l = newLiving(t, plan, log)
				l.run()
			})
			if lives++; l.tied {
				tied++
				continue // two things happened at the same time, in either order
			}
			if l.wrong != "" {
				rt.Fatal(l.wrong)
			}
		}
	})
	if tied > 1+lives/100 {
		t.Errorf("%d of %d lives show nothing, because two things happened at the same time", tied, lives)
	}
}

// newLiving makes the group of a life.
func newLiving(t *testing.T, plan life, standard *recorder) *living {
	l := &living{plan: plan, t: t, own: &recorder{broken: plan.Logger == "broken"}}
	l.spec.limit, l.spec.name = -1, plan.Name
	l.spec.handled = plan.Handler != "" && plan.Handler != "nil"
	l.log = l.own
	*standard = recorder{}
	if plan.Logger == "" || plan.Logger == "nil" {
		l.log = standard
	}
	if plan.Zero {
		l.g = &tracked.Group{}
		return l
	}
	opts := []tracked.Option{nil, tracked.WithName(plan.Name)}
	switch plan.Context {
	case "nil":
		var none context.Context
		opts = append(opts, tracked.WithContext(none))
	case "ended":
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), valueKey{}, "value"))
		cancel()
		opts = append(opts, tracked.WithContext(ctx))
	}
	switch plan.Logger {
	case "nil":
		opts = append(opts, tracked.WithLogger(nil))
	case "own", "broken":
		opts = append(opts, tracked.WithLogger(slog.New(l.own)))
	}
	switch plan.Handler {
	case "":
	case "nil":
		opts = append(opts, tracked.WithErrorHandler(nil))
	default:
		opts = append(opts, tracked.WithErrorHandler(l.handle))
	}
	l.g = tracked.NewGroup(opts...)
	return l
}

type valueKey struct{}

// run lives the life, up to the first difference, and ends the group.
func (l *living) run() {
	release := l.crowd()
	for _, s := range l.plan.Steps {
		if s.Do == "tie" {
			l.sleepUntilItCloses(s)
		} else {
			time.Sleep(s.Wait)
		}
		if s.Beside {
			go l.getters()
		}
		go l.do(s, nil, nil)
		synctest.Wait()
		if l.check(); l.wrong != "" {
			break
		}
	}
	for _, s := range []step{{Do: "limit", Number: -1}, {Do: "shutdown"}, {Do: "look"}} {
		time.Sleep(time.Second + 1)
		if s.Do == "shutdown" {
			l.shutdownBesideCalls()
			continue
		}
		l.do(s, nil, nil)
		synctest.Wait()
		l.check()
	}
	time.Sleep(time.Hour) // the functions and the contexts end
	synctest.Wait()
	l.check()
	l.checkEnd()
	release()
}

// shutdownBesideCalls shuts the group down while another goroutine calls TryGo again and again,
// at a limit that refuses its functions. Each refusal before the end is in the report (G20).
func (l *living) shutdownBesideCalls() {
	l.do(step{Do: "limit", Number: 0}, nil, nil)
	time.Sleep(time.Second + 1)
	l.mu.Lock()
	alone := len(l.spec.running) == 0 && l.limit == 0 // no function changes the limit, or has changed it meanwhile
	l.mu.Unlock()
	if !alone {
		l.do(step{Do: "shutdown"}, nil, nil)
		synctest.Wait()
		l.check()
		return
	}
	var refused int64
	var begun, over atomic.Bool
	var calls sync.WaitGroup
	calls.Go(func() {
		for state := core.StateNotStarted; state < core.StateTerminated && !over.Load(); begun.Store(true) {
			var err *core.RejectedError
			if errors.As(l.g.TryGo("late", func(context.Context) error { return nil }), &err) {
				state = err.State
			}
			if state < core.StateTerminated {
				refused++
			}
		}
	})
	for !begun.Load() {
		runtime.Gosched()
	}
	l.mu.Lock()
	l.counting = true
	l.mu.Unlock()
	l.do(step{Do: "shutdown"}, nil, nil)
	over.Store(true)
	calls.Wait()
	l.mu.Lock()
	l.rejected, l.counting = l.rejected+refused, false
	l.mu.Unlock()
	synctest.Wait()
	l.check()
}

// crowd starts many goroutines with deep stacks, until release is called.
func (l *living) crowd() (release func()) {
	if !l.plan.Crowd {
		return func() {}
	}
	over := make(chan struct{})
	for range 30 {
		go deep(60, over)
	}
	return func() { close(over) }
}

//go:noinline
func deep(n int, over chan struct{}) int {
	if n == 0 {
		<-over
		return 0
	}
	return deep(n-1, over) + 1
}

// getters calls all getters, whose results may be of any moment of the call beside them.
func (l *living) getters() {
	g := l.g
	_, _, _, _, _ = g.State(), g.Functions(), g.Running(), g.Report(), g.Err()
	_, _ = g.ShutdownContext().Err(), g.Termination().Err()
}

// sleepUntilItCloses sleeps until the instant at which the group closes by itself if nothing
// happens, or, if there is none, as the step says.
func (l *living) sleepUntilItCloses(s step) {
	l.mu.Lock()
	l.advance(time.Now())
	at, _, closes := l.closesAt()
	l.mu.Unlock()
	if closes {
		time.Sleep(time.Until(at))
	} else {
		time.Sleep(s.Wait)
	}
}
