package core_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

func TestG15TerminationIsTheSameAlways(t *testing.T) {
	ex := coretest.NewExecutor(t)
	term := ex.Termination()
	graceful, err := ex.ShutdownGracefully(0, 0)
	if err != nil || graceful != term || ex.Shutdown() != term || ex.Termination() != term {
		t.Errorf("G15: got %p, %v, %p, want always %p", graceful, err, ex.Termination(), term)
	}
	if coretest.AwaitDone(t, ex); ex.Termination() != term {
		t.Error("G15: another Termination after done")
	}
}

func TestG15TerminatedIfAndOnlyIfDoneIsClosed(t *testing.T) {
	for range 200 {
		ex := coretest.NewExecutor(t)
		mustHook(t, ex, func() {})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				state, stats := ex.State(), ex.Stats().State
				select {
				case <-ex.Termination().Done():
					if s := ex.State(); s != core.StateTerminated {
						t.Errorf("G15: state %v after Done", s)
					}
					return
				default:
					if state == core.StateTerminated || stats == core.StateTerminated {
						t.Errorf("G15: state %v, %v in the stats, before Done", state, stats)
						return
					}
				}
				runtime.Gosched()
			}
		})
		ex.Shutdown()
		wg.Wait()
	}
}

func TestG15ListenersOfTheTerminationRunAfterDoneInOrder(t *testing.T) {
	var log panicLog
	ex := coretest.NewExecutor(t, core.WithPanicHandler(log.handle))
	var j coretest.Journal
	all := make(chan struct{})
	listener := func(name string, end func()) {
		ex.Termination().OnDone(func(report core.Report, err error) {
			if ex.State() != core.StateTerminated || err != nil || report != ex.Termination().Report() {
				t.Errorf("G15: listener %s: state %v, error %v", name, ex.State(), err)
			}
			j.Add(name)
			end()
		})
	}
	listener("a", func() {
		ex.Termination().OnDone(func(core.Report, error) { j.Add("added"); close(all) })
	})
	listener("b", panics)
	listener("c", goexit)
	listener("d", func() {})
	ex.Shutdown()
	coretest.Await(t, "the last listener", all)
	j.Want(t, "G15", "a b c d added")
	late := make(chan struct{})
	ex.Termination().OnDone(func(core.Report, error) { close(late) })
	coretest.Await(t, "a listener added after done, on the caller", late)
	if n := len(log.all()); n != 1 {
		t.Errorf("G14: %d panics of listeners reported, want 1", n)
	}
}

// A goroutine that has seen Done sees all earlier writes of the loop, to plain variables.
func TestG15DoneHappensAfterEverything(t *testing.T) {
	for range 50 {
		ex := coretest.NewExecutor(t)
		count := 0
		for range 10 {
			coretest.MustExecute(t, ex, func() { count++ })
			mustHook(t, ex, func() { count++ })
			mustTail(t, ex, func() { count++ })
		}
		ex.Shutdown()
		<-ex.Termination().Done()
		if count != 30 {
			t.Fatalf("G15: %d effects are visible at done, want 30", count)
		}
	}
}

func TestContextEndsOnceAtTheClose(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	if first, second := ex.Context(), ex.Context(); first != second || first.Err() != nil {
		t.Error("Context: want the same one, not ended")
	}
	ex.Shutdown()
	if ex.Context().Err() == nil {
		t.Error("G11: Context has not ended when Shutdown has returned")
	}
	release()
}

func TestNamesOfExecutors(t *testing.T) {
	named := coretest.NewExecutor(t, core.WithName("bakery"))
	if named.Name() != "bakery" || fmt.Sprint(named) != "bakery (NotStarted)" || named.Parent() != nil {
		t.Errorf("got %q, %q, parent %v", named.Name(), named, named.Parent())
	}
	a, b := coretest.NewExecutor(t), coretest.NewExecutor(t)
	if a.Name() == "" || a.Name() == b.Name() {
		t.Errorf("made-up names are %q and %q, want two", a.Name(), b.Name())
	}
}

// NewTermination names the argument that is nil.
func TestG15NewTermination(t *testing.T) {
	none := func() error { return nil }
	live := func() core.Report { return core.Report{Ran: 1} }
	for name, make := range map[string]func() (*core.Termination, func(core.Report, error) bool, error){
		"waitError": func() (*core.Termination, func(core.Report, error) bool, error) {
			return core.NewTermination(nil, live)
		},
		"live": func() (*core.Termination, func(core.Report, error) bool, error) {
			return core.NewTermination(none, nil)
		},
	} {
		if term, end, err := make(); term != nil || end != nil || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: got %v, %v; want an error that names it", name, term, err)
		}
	}
}
