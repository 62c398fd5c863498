package core_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// Registrations, and the calls of a channel's methods, are in the trace: RegisterChannel as
// Register, Drain and Abort as readiness, and the end with its cause.
func TestTracerSeesRegistrationsAndChannels(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var r recorder
		l, m := modelLoop(t, core.WithTracer(&r))
		plain := mustRegister(t, l, m.Open().FD(), core.Readable, ignore)
		var reg *core.Registration
		reg = mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{abort: func(error) { reg.End(core.ChannelEnd{}) }})
		_, err := l.Register(1<<29, core.Readable, ignore)
		if err == nil {
			t.Error("a descriptor that is not open was registered")
		}
		synctest.Wait()
		coretest.Must(t, plain.Close())
		coretest.MustShutdownGracefully(t, l, 0, time.Minute)
		time.Sleep(time.Hour)
		coretest.AwaitDone(t, l)
		var words []string
		for _, ev := range r.all() {
			switch ev.Kind {
			case core.EventAdmit, core.EventBegin, core.EventEnd:
				words = append(words, word(ev))
			case core.EventRegistrationClosed:
				words = append(words, fmt.Sprintf("closed(%v)", ev.Reason))
			case core.EventState:
				words = append(words, fmt.Sprintf("%v(%v)", ev.To, ev.Reason))
			}
		}
		want := "Started(<nil>) register:true register:true register:false closed(<nil>) graceful:true ShuttingDown(<nil>) " +
			"begin(readiness) end(readiness,normal) Shutdown(TIMEOUT) begin(readiness) closed(<nil>) end(readiness,normal) Terminated(TIMEOUT)"
		want = strings.ReplaceAll(want, "TIMEOUT", core.ErrShutdownTimeout.Error())
		if got := strings.Join(words, " "); got != want {
			t.Errorf("events:\n got %s\nwant %s", got, want)
		}
		var late recorder
		l, m = modelLoop(t, core.WithTracer(&late))
		mustRegister(t, l, m.Open().FD(), core.Readable, ignore)
		l.Shutdown()
		coretest.AwaitDone(t, l)
		if !slices.ContainsFunc(late.all(), func(ev core.Event) bool {
			return ev.Kind == core.EventRegistrationClosed && errors.Is(ev.Reason, core.ErrShutdown)
		}) {
			t.Error("no event has the cause of a registration that a shutdown ended")
		}
	})
}

// A call that a rejected-handler retries has an event for each attempt.
func TestTracerSeesEachAttempt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var r recorder
		ex, release, _ := full(t, core.WithTracer(&r), core.WithRejectedHandler(core.BackOff(2, time.Second)))
		before := len(r.all())
		coretest.WantErr(t, "Execute", ex.Execute(func() {}), core.ErrQueueFull)
		var words []string
		for _, ev := range r.all()[before:] {
			words = append(words, word(ev))
		}
		if got, want := strings.Join(words, " "), "execute:false execute:false execute:false"; got != want {
			t.Errorf("events of a call with two retries: %q, want %q", got, want)
		}
		release()
	})
}

// EventPollerClosed comes after Close of the poller, and EventDone before Done is closed.
func TestEventPollerClosedFollowsTheClose(t *testing.T) {
	closed := false // by the loop's last goroutine, which traces too
	f := &faulty{Poller: core.NewParkPoller(nil), close: func() error { closed = true; return nil }}
	var ex *core.Executor
	seen := 0
	ex = coretest.NewExecutor(t, core.WithPoller(f), core.WithTracer(tracerFunc(func(ev core.Event) {
		switch ev.Kind {
		case core.EventPollerClosed:
			seen++
			if !closed {
				t.Error("EventPollerClosed came before the close")
			}
		case core.EventDone:
			seen++
			select {
			case <-ex.Termination().Done():
				t.Error("EventDone came after the close of Done")
			default:
			}
		}
	})))
	heard := make(chan int, 1)
	ex.Termination().OnDone(func(core.Report, error) { heard <- seen })
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	coretest.Want(t, "events of the end, before the listeners of Done", <-heard, 2)
}

// A call that gives up after the end was refused once more, by an executor that has terminated.
func TestTracerSeesTheRefusalAfterTheEnd(t *testing.T) {
	var r recorder
	var end func() // of the executor, from the handler
	handler := core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) { end(); return 0, false })
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		held, release := make(chan struct{}), make(chan struct{})
		coretest.MustExecute(t, ex, func() { close(held); <-release })
		<-held
		for range 16 {
			coretest.MustExecute(t, ex, func() {})
		}
		end = func() { ex.Shutdown(); close(release); <-ex.Termination().Done() }
		before := len(r.all())
		err := ex.Execute(func() { t.Error("G3: a refused task ran") })
		var refused *core.RejectedError
		if !errors.As(err, &refused) || refused.State != core.StateTerminated || refused.Reason != core.ErrShutdown {
			t.Errorf("G5: the error is %v, want state Terminated, ErrShutdown", err)
		}
		attempts := 0
		for _, ev := range r.all()[before:] {
			if ev.Kind == core.EventAdmit && ev.Op == core.OpExecute && !ev.Accepted {
				attempts++
			}
		}
		coretest.Want(t, "traced refusals, before and after the end", attempts, 2)
		coretest.Want(t, "G20: Report.Rejected", ex.Termination().Report().Rejected, 0)
		coretest.Want(t, "G20: Stats.Rejected", ex.Stats().Rejected, 1)
	}, core.WithTracer(&r), core.WithMaxPendingTasks(16), handler)
}
