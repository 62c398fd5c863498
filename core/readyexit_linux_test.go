package core

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestG24ReadyEventsOfHandlersThatExit: what is left of the events in hand goes with the
// last of them, though the handlers that they were for have ended the goroutine.
func TestG24ReadyEventsOfHandlersThatExit(t *testing.T) {
	l, err := NewEventLoop()
	require.NoError(t, err)
	var fds [2]int
	require.NoError(t, unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC))
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	const calls = 200
	n, held, registered := 0, make(chan int, 1), make(chan struct{})
	var r *Registration
	r, err = l.Register(fds[0], Readable, func(Readiness) {
		if n++; n < calls {
			runtime.Goexit()
		}
		<-registered
		_ = r.Close()
		require.NoError(t, l.Execute(func() { held <- len(l.io.ready) }))
		runtime.Goexit()
	})
	require.NoError(t, err)
	close(registered)
	_, err = unix.Write(fds[1], []byte{1})
	require.NoError(t, err)
	require.Zero(t, <-held, "G24: ready events that the loop still holds")
	require.NoError(t, l.Close())
}
