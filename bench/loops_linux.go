package bench

import (
	"golang.org/x/sys/unix"

	"eventide/core"
)

// loops are the event loops: executors that watch descriptors.
var loops = []implementation{
	{"loop", func() (Executor, error) { return NewLoop() }},
	{"loop-blocking", func() (Executor, error) { return NewLoop(core.WithBlockingEpoll()) }},
}

// bareLoops watch nothing, so that their measured end includes no registration.
var bareLoops = []implementation{
	{"loop", func() (Executor, error) { return newBareLoop() }},
	{"loop-blocking", func() (Executor, error) { return newBareLoop(core.WithBlockingEpoll()) }},
}

// newBareLoop does not return a nil *core.EventLoop inside an Executor.
func newBareLoop(opts ...core.Option) (Executor, error) {
	l, err := core.NewEventLoop(opts...)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// watchingLoop is an event loop that watches a pipe on which nothing happens: a loop
// without any descriptor could skip a system call that the loop of a server always
// makes.
type watchingLoop struct {
	*core.EventLoop
	pipe [2]int
}

// NewLoop returns an event loop that watches one idle descriptor.
func NewLoop(opts ...core.Option) (Executor, error) {
	l, err := core.NewEventLoop(opts...)
	if err != nil {
		return nil, err
	}
	w := &watchingLoop{EventLoop: l}
	if err := unix.Pipe2(w.pipe[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		l.Shutdown()
		return nil, err
	}
	if _, err := l.Register(w.pipe[0], core.Readable, func(core.Readiness) {}); err != nil {
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

func (w *watchingLoop) Close() error {
	err := w.EventLoop.Close()
	_ = unix.Close(w.pipe[0])
	_ = unix.Close(w.pipe[1])
	return err
}
