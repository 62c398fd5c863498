package core_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// The methods of channels are called on the loop, one at a time.
func TestMethodsOfChannelsAreCalledOneAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		var inside atomic.Int32
		var calls [3]atomic.Int64
		method := func(which int) {
			calls[which].Add(1)
			if n := inside.Add(1); n != 1 || !l.InEventLoop() {
				t.Errorf("G2: %d methods run at once, on the loop: %v; want 1, true", n, l.InEventLoop())
			}
			time.Sleep(time.Second) // another call would begin meanwhile
			inside.Add(-1)
		}
		for range 3 {
			d := m.Open()
			var r *core.Registration
			r = mustRegisterChannel(t, l, d.FD(), &fakeChannel{
				ready: func(core.Readiness) { coretest.Must(t, d.Drain()); method(0) },
				drain: func(core.Deadline) { method(1) },
				abort: func(error) { method(2); r.End(core.ChannelEnd{Kind: core.EndAborted}) },
			})
			coretest.Must(t, d.Input())
		}
		time.Sleep(time.Minute)
		coretest.MustShutdownGracefully(t, l, 0, time.Hour)
		coretest.AwaitDoneWithin(t, l, 24*time.Hour)
		for i, name := range []string{"Ready", "Drain", "Abort"} {
			coretest.Want(t, "calls of "+name, calls[i].Load(), 3)
		}
	})
}

// When another goroutine has called End, no call of a method begins, even for an event that the
// loop has collected.
func TestAChannelThatAnotherGoroutineEnds(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		a, b := m.Open(), m.Open()
		inside, gate := make(chan struct{}), make(chan struct{})
		var calls atomic.Int64
		first := mustRegisterChannel(t, l, a.FD(), &fakeChannel{ready: func(core.Readiness) {
			coretest.Must(t, a.Drain())
			close(inside)
			<-gate
		}})
		second := mustRegisterChannel(t, l, b.FD(), &fakeChannel{ready: func(core.Readiness) {
			calls.Add(1)
			coretest.Must(t, b.Drain())
		}})
		batch(t, l, a, b)
		<-inside
		second.End(core.ChannelEnd{})
		close(gate)
		synctest.Wait()
		coretest.Want(t, "calls of Ready after End", calls.Load(), 0)
		first.End(core.ChannelEnd{})
	})
}

// A panic of Abort does not end the channel: the loop waits for End.
func TestG22ALoopWaitsForAChannelWhoseAbortPanics(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		r := mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{abort: func(error) { panic("abort") }})
		l.Shutdown()
		time.Sleep(time.Hour)
		if s := l.Stats(); s.State != core.StateShutdown || s.Registrations != 1 || s.Panicked != 1 {
			t.Errorf("G22: state %v, %d registrations, %d panics an hour after Abort has panicked; want Shutdown, 1, 1", s.State, s.Registrations, s.Panicked)
		}
		r.End(core.ChannelEnd{Kind: core.EndAborted})
		coretest.Want(t, "G23: aborted", coretest.AwaitDone(t, l).ChannelsAborted, 1)
	})
}

// Registrations that are refused are in neither count of refusals.
func TestRefusedRegistrationsAreNotCounted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		open := mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{})
		l.Shutdown()
		for range 2 { // before and after Done
			_, err := l.Register(m.Open().FD(), core.Readable, ignore)
			coretest.WantErr(t, "Register", err, core.ErrShutdown)
			open.End(core.ChannelEnd{})
			coretest.AwaitDone(t, l)
		}
		if s, r := l.Stats().Rejected, l.Termination().Report().Rejected; s != 0 || r != 0 {
			t.Errorf("Stats counts %d refusals, the report %d; want 0", s, r)
		}
	})
}
