package core_test

import (
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestG22RegistrationsBetweenTwoPolls: a descriptor may be registered at any time (G22), also while the loop is inside a handler or a
// task. Between two polls the loop may not lock the mutex, so it must hold it as it looks up the events of a poll: otherwise the race
// detector reports the tables of registrations. Only the mutex orders the calls of Register and the loop here: they meet by virtual time.
func TestG22RegistrationsBetweenTwoPolls(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		register := func(fd int) {
			if _, err := l.Register(fd, 0, ignore); err != nil {
				t.Errorf("Register during a body: %v", err)
			}
		}
		d := m.Open()
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { coretest.Pass(2 * time.Second) })
		coretest.Must(t, d.Input()) // always ready: the loop does not read it
		for i := range 10 {
			coretest.Pass(time.Second)
			register(1000 + i) // in the handler of what a Wait has found
			coretest.Pass(time.Second)
		}
		over := make(chan struct{})
		coretest.MustExecute(t, l, func() { // the loop takes what it adds as one batch, and polls within it
			for i := range 200 {
				coretest.MustExecute(t, l, func() {
					go register(2000 + i) // behind what the loop has done, and before what it does
					coretest.Pass(time.Second)
				})
			}
			coretest.MustExecute(t, l, func() { close(over) })
		})
		<-over
		l.Shutdown()
		coretest.AwaitDone(t, l)
		coretest.Want(t, "G22: open registrations after the end", l.Stats().Registrations, 0)
	})
}
