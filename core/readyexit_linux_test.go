package core

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestG24ReadyEventsOfHandlersThatExit: the collected events are released with the last of
// them, even if their handlers have ended the goroutine.
func TestG24ReadyEventsOfHandlersThatExit(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := NewEventLoop()
	must(err)
	var fds [2]int
	must(unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC))
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
		must(l.Execute(func() { held <- len(l.io.ready) }))
		runtime.Goexit()
	})
	must(err)
	close(registered)
	_, err = unix.Write(fds[1], []byte{1})
	must(err)
	if n := <-held; n != 0 {
		t.Errorf("G24: the loop still holds %d ready events", n)
	}
	must(l.Close())
}
