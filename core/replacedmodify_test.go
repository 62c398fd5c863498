package core_test

import (
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// wakeHook is a model whose Wake calls a function first.
type wakeHook struct {
	*pollertest.Model
	woken func() // nil: none
}

func (w *wakeHook) Wake() {
	if w.woken != nil {
		w.woken()
	}
	w.Model.Wake()
}

// A descriptor was closed without its registration, and its number is registered again. Until the call of
// Register ends the old registration, Modify of it has an error that says so, and neither Modify nor the end
// affects the new registration. In a shutdown Register wakes the loop in between.
func TestG22ModifyOfAReplacedRegistration(t *testing.T) {
	for _, interest := range []core.Interest{0, core.Readable, core.Writable} {
		inBubble(t, func(t *testing.T) {
			m := &wakeHook{Model: pollertest.NewModel(nil)}
			l := loopOn(t, m)
			d := m.Open()
			var e ending
			old := mustRegisterChannel(t, l, d.FD(), &fakeChannel{})
			old.OnClose(e.hear)
			coretest.MustShutdownGracefully(t, l, 0, time.Hour)
			synctest.Wait()
			coretest.Must(t, d.Close())
			coretest.Want(t, "the number of the new descriptor", m.Open().FD(), d.FD())
			calls := 0
			m.woken = func() {
				m.woken = nil
				calls++
				err := old.Modify(interest)
				if interest == 0 {
					coretest.Must(t, err)
				} else {
					coretest.WantErr(t, "G22: Modify of a replaced registration", err, core.ErrDescriptorReused)
				}
				if _, i, ok := m.Watched(d.FD()); !ok || i != core.Readable|core.EdgeTriggered {
					t.Errorf("G22: the poller watches the new descriptor: %v, for %v", ok, i)
				}
			}
			r, err := l.RegisterChannel(d.FD(), core.Readable|core.EdgeTriggered, &fakeChannel{})
			coretest.Must(t, err)
			coretest.Want(t, "calls of Wake", calls, 1)
			synctest.Wait()
			e.want(t, "G22: the replaced channel", core.ErrDescriptorReused)
			if _, i, ok := m.Watched(d.FD()); !ok || i != core.Readable|core.EdgeTriggered {
				t.Errorf("G22: behind the end of the old registration the poller watches the new descriptor: %v, for %v", ok, i)
			}
			r.End(core.ChannelEnd{})
			coretest.AwaitDone(t, l)
		})
	}
}

// A registration that is paused does not have its descriptor in the poller yet. If its number is that of a
// descriptor that was closed while it was registered, Modify ends the older registration, as Register would.
func TestG22ModifyEndsARegistrationOfTheSameNumber(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		d := m.Open()
		var e ending
		old := mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { t.Error("the old handler was called") })
		old.OnClose(e.hear)
		coretest.Must(t, d.Close())
		again := m.Open()
		coretest.Want(t, "the number of the new descriptor", again.FD(), d.FD())
		calls := 0
		paused := mustRegister(t, l, again.FD(), 0, func(core.Readiness) { calls++; coretest.Must(t, again.Drain()) })
		synctest.Wait()
		coretest.Want(t, "registrations while the new one is paused", l.Stats().Registrations, 2)
		coretest.Must(t, paused.Modify(core.Readable))
		synctest.Wait()
		e.want(t, "G22: the replaced registration", core.ErrDescriptorReused)
		coretest.Want(t, "registrations", l.Stats().Registrations, 1)
		coretest.Must(t, again.Input())
		synctest.Wait()
		coretest.Want(t, "calls of the new handler", calls, 1)
	})
}
