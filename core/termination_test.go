package core_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"eventide/core"
)

func TestG15TerminationIsTheSameAlways(t *testing.T) {
	ex := newExecutor(t)
	term := ex.Termination()
	graceful, err := ex.ShutdownGracefully(0, 0)
	if err != nil || graceful != term || ex.Shutdown() != term || ex.Termination() != term {
		t.Errorf("G15: got %p, %v, %p, want always %p", graceful, err, ex.Termination(), term)
	}
	if awaitDone(t, ex); ex.Termination() != term {
		t.Error("G15: another Termination after done")
	}
}

func TestG15TerminatedIfAndOnlyIfDoneIsClosed(t *testing.T) {
	for range 200 {
		ex := newExecutor(t)
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
	ex := newExecutor(t, core.WithPanicHandler(log.handle))
	var j journal
	all := make(chan struct{})
	listener := func(name string, end func()) {
		ex.Termination().OnDone(func(report core.Report, err error) {
			if ex.State() != core.StateTerminated || err != nil || report != ex.Termination().Report() {
				t.Errorf("G15: listener %s: state %v, error %v", name, ex.State(), err)
			}
			j.add(name)
			end()
		})
	}
	listener("a", func() {
		ex.Termination().OnDone(func(core.Report, error) { j.add("added"); close(all) })
	})
	listener("b", panics)
	listener("c", goexit)
	listener("d", func() {})
	ex.Shutdown()
	await(t, "the last listener", all)
	j.want(t, "G15", "a b c d added")
	late := make(chan struct{})
	ex.Termination().OnDone(func(core.Report, error) { close(late) })
	await(t, "a listener added after done, on the caller", late)
	if n := len(log.all()); n != 1 {
		t.Errorf("G14: %d panics of listeners reported, want 1", n)
	}
}

// What the loop did before done is visible to those who saw it: plain variables.
func TestG15DoneHappensAfterEverything(t *testing.T) {
	for range 50 {
		ex := newExecutor(t)
		count := 0
		for range 10 {
			mustExecute(t, ex, func() { count++ })
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
	ex := newExecutor(t)
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
	named := newExecutor(t, core.WithName("bakery"))
	if named.Name() != "bakery" || fmt.Sprint(named) != "bakery (NotStarted)" || named.Parent() != nil {
		t.Errorf("got %q, %q, parent %v", named.Name(), named, named.Parent())
	}
	a, b := newExecutor(t), newExecutor(t)
	if a.Name() == "" || a.Name() == b.Name() {
		t.Errorf("made-up names are %q and %q, want two", a.Name(), b.Name())
	}
}
