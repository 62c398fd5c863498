package core_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"
)

var errWait = errors.New("the poller cannot wait")

// breakingPoller is a poller whose Wait fails when the test says so. Once fails is set, the calls of Wake panic when
// the test has let them go on.
type breakingPoller struct {
	fail         func() error // how Wait fails
	breaks, wake chan struct{}
	woken        chan struct{} // has room for one
	fails        atomic.Bool
}

func (p *breakingPoller) Wait(core.Deadline) error {
	select {
	case <-p.woken:
		return nil
	case <-p.breaks:
		return p.fail()
	}
}

func (p *breakingPoller) Wake() {
	if !p.fails.Load() {
		p.woken <- struct{}{}
		return
	}
	<-p.wake
	panic(errWake)
}

func (p *breakingPoller) Close() error { return nil }

// blockingLog is a slog.Handler that waits at a line.
type blockingLog struct {
	line  string
	gate  chan struct{}
	stuck bool
}

func (l *blockingLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *blockingLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *blockingLog) WithGroup(string) slog.Handler            { return l }

func (l *blockingLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == l.line {
		l.stuck = true
		<-l.gate
	}
	return nil
}

// G12: a poller whose Wait fails, panics or exits has ended the sleep. Nobody wakes the loop for what comes while it writes its
// log line: it is awake, even if a call of Wake that began before fails meanwhile. The trace has one end of each sleep.
func TestG12FailedWakeBesideAFailedWait(t *testing.T) {
	for name, fail := range map[string]func() error{
		"an error":   func() error { return errWait },
		"a panic":    func() error { panic(errWait) },
		"its Goexit": func() error { runtime.Goexit(); return nil },
	} {
		for _, waking := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, a caller in Wake: %v", name, waking), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { failedWakeBeside(t, fail, waking) })
			})
		}
	}
}

func failedWakeBeside(t *testing.T, fail func() error, waking bool) {
	p := &breakingPoller{fail: fail, breaks: make(chan struct{}), wake: make(chan struct{}), woken: make(chan struct{}, 1)}
	log := &blockingLog{line: "the loop failed", gate: make(chan struct{})}
	parks, unparks := 0, 0 // on the loop only
	tracer := tracerFunc(func(e core.Event) {
		switch e.Kind {
		case core.EventPark:
			parks++
		case core.EventUnpark:
			unparks++
		}
	})
	ex, err := core.NewExecutor(core.WithPoller(p), core.WithLogger(slog.New(log)), core.WithTracer(tracer))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	execute := func() {
		if err := ex.Execute(func() { ran++ }); err != nil {
			ran = -100 // refused after the failure
		}
	}
	coretest.MustExecute(t, ex, func() {}) // starts the loop
	synctest.Wait()
	p.fails.Store(true)
	want := 0
	if waking {
		want = 1
		go execute() // it claims the wake-up, and waits in Wake
		synctest.Wait()
	}
	close(p.breaks)
	synctest.Wait()
	if !log.stuck {
		t.Fatal("the loop has not written that it failed")
	}
	close(p.wake)
	synctest.Wait()
	before := ex.Stats().Wakes
	ex.AddShutdownHook(func() {})
	promise := core.NewPromise[int](ex)
	promise.Future().OnDone(func(int, error) {})
	promise.TrySuccess(1)
	synctest.Wait()
	if after := ex.Stats().Wakes; after != before {
		t.Errorf("G12: %d wake-ups of a loop that is awake, want none", after-before)
	}
	close(log.gate)
	<-ex.Termination().Done()
	if ran != want {
		t.Errorf("G3: the task ran %d times, want %d", ran, want)
	}
	if parks == 0 || unparks != parks {
		t.Errorf("%d ends of %d sleeps are traced, want one of each", unparks, parks)
	}
}
