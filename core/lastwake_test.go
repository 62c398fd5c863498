package core_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

// lastWaker is a poller that counts the calls of Wake. It fails, once the loop has ended, in those of the shutdown.
type lastWaker struct {
	*pollertest.Model
	fault wakeFault
	armed bool
	calls int
}

func (w *lastWaker) Wake() {
	if w.calls++; !w.armed || w.fault.wakes || w.calls > 1 {
		w.Model.Wake()
	}
	if w.armed && w.fault.fails != nil {
		time.Sleep(time.Second)
		w.fault.fails()
	}
}

// TestPropG15TheLastWakeUp: a call of Wake may wake the loop and fail only after the loop has ended. Then nobody
// calls the poller again, which is closed, and nobody logs the failure. If the call has not woken the loop, the
// executor calls Wake once more (G12), and the end has the failure (G15).
func TestPropG15TheLastWakeUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fault := rapid.SampledFrom(wakeFaults).Draw(rt, "fault")
		graceful, events := rapid.Bool().Draw(rt, "graceful"), rapid.Bool().Draw(rt, "event loop")
		checkInBubble(t, rt, func(t *testing.T) string {
			w, logged := &lastWaker{Model: pollertest.NewModel(nil), fault: fault}, 0
			opts := []core.Option{core.WithPoller(w), core.WithLogger(slog.New(recordsHandler{func(string) { logged++ }}))}
			var ex core.EventExecutor
			if events {
				l, err := core.NewEventLoop(opts...)
				ex = coretest.EndWithTest(t, l, err)
			} else {
				ex = coretest.NewExecutor(t, opts...)
			}
			coretest.OnLoop(t, ex, func() {})
			untilIdle()
			w.calls, w.armed = 0, true
			go func() { // a call of Wake may end it
				if graceful {
					coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
				} else {
					ex.Shutdown()
				}
			}()
			coretest.AwaitDone(t, ex)
			time.Sleep(time.Minute)
			synctest.Wait()
			if err := ex.Termination().Err(); fault.wakes && (w.calls != 1 || logged != 0 || err != nil) {
				return fmt.Sprintf("G15: after a Wake that fails behind the end: %d calls of Wake, %d records, error %v; want 1, 0, none", w.calls, logged, err)
			} else if !fault.wakes && (w.calls != 2 || logged == 0 || err == nil) {
				return fmt.Sprintf("G12, G15: after a Wake that fails and wakes nobody: %d calls of Wake, %d records, error %v; want 2, some, an error", w.calls, logged, err)
			}
			return ""
		})
	})
}

// lateWake is a poller whose Wake wakes the loop at once, and returns once release is closed.
type lateWake struct {
	core.Poller
	holds   *atomic.Bool
	release chan struct{}
}

func (p lateWake) Wake() {
	p.Poller.Wake()
	if p.holds.Load() {
		<-p.release
	}
}

// TestG11ContextEndsBeforeTheFinalDrain: no body that runs after the close of admission finds the Context open, also if the loop
// comes to it before the goroutine that has closed admission goes on (G11).
func TestG11ContextEndsBeforeTheFinalDrain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := lateWake{core.NewParkPoller(nil), new(atomic.Bool), make(chan struct{})}
		ex := coretest.NewExecutor(t, core.WithPoller(p))
		coretest.OnLoop(t, ex, func() {})
		ran, cause := false, error(nil)
		mustHook(t, ex, func() { ran, cause = true, context.Cause(ex.Context()) })
		synctest.Wait() // the loop sleeps
		p.holds.Store(true)
		go ex.Shutdown()
		synctest.Wait() // Shutdown is inside Wake
		close(p.release)
		coretest.AwaitDone(t, ex)
		coretest.Want(t, "the hook ran", ran, true)
		coretest.WantErr(t, "G11: the cause of Context in a hook after the close", cause, core.ErrShutdown)
	})
}
