package tracked_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tracked"
)

// residents are the functions that run when a scene begins. Each call of the scene has one of each.
var residents = []string{"returns", "fails", "panics"}

var errPlanned = errors.New("planned")

// scene is a group in which two goroutines make one call each. Nothing but the group orders the
// two: each has its own fields, which the test reads after the end.
type scene struct {
	g     *tracked.Group
	sides [2]side
}

// side is what one of the two goroutines does and gets.
type side struct {
	*tracked.Group
	release  map[string]chan struct{} // of the residents
	submits  bool                     // it calls Go, TryGo or Execute
	err      error                    // of that call
	runs     int                      // of the function that it submitted
	panics   bool                     // that function does
	failure  error                    // what Err or AwaitTermination returned
	released string                   // the resident that the call has released
	wrong    string
}

// planned is the end of a function of the name.
func planned(name string) error {
	switch name {
	case "fails":
		return errPlanned
	case "panics":
		panic(errPlanned)
	}
	return nil
}

// submit returns a call of Go or TryGo with a function that ends as its name says.
func submit(call func(*tracked.Group, string, func(context.Context) error) error, name string) func(*side) {
	return func(s *side) {
		s.submits, s.panics = true, name == "panics"
		s.err = call(s.Group, name, func(context.Context) error { s.runs++; return planned(name) })
	}
}

// end returns the end of a resident.
func end(name string) func(*side) {
	return func(s *side) { s.released = name; close(s.release[name]) }
}

func gracefully(quiet, timeout time.Duration) func(*side) {
	return func(s *side) { _, _ = s.ShutdownGracefully(quiet, timeout) }
}

// calls are all methods of a Group, and the ends of functions.
var calls = map[string]func(*side){
	"Go": submit((*tracked.Group).Go, "returns"), "Go fails": submit((*tracked.Group).Go, "fails"), "TryGo": submit((*tracked.Group).TryGo, "panics"),
	"Execute":  func(s *side) { s.submits = true; s.err = s.Execute(func() { s.runs++ }) },
	"returned": end("returns"), "failed": end("fails"), "panicked": end("panics"),
	"SetLimit": func(s *side) { s.SetLimit(7) }, "Shutdown": func(s *side) { s.Shutdown() }, "Close": func(s *side) { s.failure = s.Close() },
	"ShutdownGracefully": gracefully(0, time.Hour), "timeout 0": gracefully(0, 0), "timeout": gracefully(0, 1), "quiet period": gracefully(1, time.Hour),
	"AwaitTermination": func(s *side) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if s.failure = s.AwaitTermination(ctx); s.failure == context.Canceled {
			s.failure = nil
		}
	},
	"Err": func(s *side) { s.failure = s.Err() }, "State": func(s *side) { s.State() }, "Termination": func(s *side) { s.Termination().Report() },
	"ShutdownContext": func(s *side) { _ = s.ShutdownContext().Err() },
	"Functions": func(s *side) {
		for _, f := range s.Functions() {
			if f.Began.IsZero() {
				s.wrong = "Functions returns a function that has not been accepted"
			}
		}
	},
	"Running": func(s *side) {
		if text := s.Running(); text != "" && !strings.Contains(text, " runs since ") {
			s.wrong = "Running returns " + text
		}
	},
	"Report": func(s *side) {
		if r := s.Report(); r.Ran > r.Accepted || r.Panicked > r.Accepted {
			s.wrong = "G20: Report counts more functions that ran than it counts accepted ones"
		}
	},
}

// waits are the calls that may wait for the end of a resident.
var waits = map[string]bool{"Go": true, "Go fails": true, "Execute": true, "Close": true}

// stages are what has happened to the group before the two calls.
var stages = map[string]func(*tracked.Group){
	"open": func(*tracked.Group) {},
	"full": func(g *tracked.Group) { g.SetLimit(2 * len(residents)) },
	"shutting down": func(g *tracked.Group) {
		_, _ = g.ShutdownGracefully(1, time.Hour)
	},
}

func newScene(t *testing.T, prepare func(*tracked.Group)) *scene {
	s := &scene{g: tracked.NewGroup(tracked.WithLogger(slog.New(slog.DiscardHandler)))}
	for i := range s.sides {
		release := map[string]chan struct{}{}
		for _, name := range residents {
			over := make(chan struct{})
			release[name] = over
			coretest.Must(t, s.g.Go(name, func(context.Context) error { <-over; return planned(name) }))
		}
		s.sides[i] = side{Group: s.g, release: release}
	}
	prepare(s.g)
	return s
}

// run makes the two calls at once, and returns the report of the end.
func (s *scene) run(t *testing.T, both [2]string, late int) core.Report {
	var first, all sync.WaitGroup
	begin := make(chan struct{})
	for i := range s.sides {
		one := &s.sides[i]
		if !waits[both[i]] {
			first.Add(1)
		}
		all.Go(func() {
			<-begin
			for range 3 * (late ^ i) {
				runtime.Gosched() // the other call may come first: nothing orders this one after it
			}
			calls[both[i]](one)
			if !waits[both[i]] {
				first.Done()
			}
		})
	}
	close(begin)
	first.Wait()
	for i := range s.sides {
		for name, over := range s.sides[i].release {
			if name != s.sides[i].released {
				close(over)
			}
		}
	}
	s.g.SetLimit(-1) // accepts the calls that still wait
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	coretest.Await(t, strings.Join(both[:], " and "), done)
	s.g.Shutdown()
	return coretest.AwaitDone(t, s.g)
}

// check compares the results of the two calls with the report.
func (s *scene) check(t *testing.T, r core.Report) {
	want := core.Report{Accepted: 2 * int64(len(residents)), Panicked: 2}
	failure := s.g.Err()
	if failure == nil || !strings.HasSuffix(failure.Error(), "planned") {
		t.Errorf("G14: Err is %v, want a failure of a function", failure)
	}
	coretest.WantText(t, "G14: the error of the Termination", s.g.Termination().Err(), failure.Error())
	for i := range s.sides {
		one := &s.sides[i]
		var refused *core.RejectedError
		switch isRefused := errors.As(one.err, &refused); {
		case !one.submits:
		case one.err == nil:
			want.Accepted++
			coretest.Want(t, "G3: runs of an accepted function", one.runs, 1)
			if one.panics {
				want.Panicked++
			}
		case !isRefused:
			t.Errorf("G5: a call returns %v, want a refusal", one.err)
		default:
			coretest.Want(t, "G3: runs of a refused function", one.runs, 0)
			if refused.State != core.StateTerminated {
				want.Rejected++
			}
		}
		if one.failure != nil {
			coretest.WantText(t, "G14: the first failure", one.failure, failure.Error())
		}
		if one.wrong != "" {
			t.Error(one.wrong)
		}
	}
	got := core.Report{Accepted: r.Accepted, Rejected: r.Rejected, Panicked: r.Panicked}
	coretest.Want(t, "G20: the counts of the report", got, want)
	coretest.Want(t, "G20: functions that ran", r.Ran, r.Accepted)
}

// TestTwoCallsAtOnce: any two methods may be called at the same time, also while functions run,
// fail and end. Whatever the order: no function is lost, the report counts each, and the first
// failure stays the error. With the race detector it sees a method that reads or writes what mu guards
// without mu.
func TestTwoCallsAtOnce(t *testing.T) {
	for method := range reflect.TypeFor[*tracked.Group]().Methods() {
		if calls[method.Name] == nil {
			t.Errorf("%s is not among the calls, want every method", method.Name)
		}
	}
	names := slices.Sorted(maps.Keys(calls))
	for i, a := range names {
		for _, b := range names[i:] {
			for stage, prepare := range stages {
				for late := range 2 {
					s := newScene(t, prepare)
					if s.check(t, s.run(t, [2]string{a, b}, late)); t.Failed() {
						t.Fatalf("%s and %s at the same time, in a group that is %s", a, b, stage)
					}
				}
			}
		}
	}
}
