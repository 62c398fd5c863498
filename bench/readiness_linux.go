package bench

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"eventide/core"
)

// readinessCases measure from before a byte is written into a pipe until the watcher of
// the other end runs. The rival is a goroutine that reads the pipe through Go's own
// poller.
func readinessCases() Group {
	g := Group{{Workload: "Readiness", Impl: "goroutine", Against: "goroutine", Unit: "event", Open: openPipeReader}}
	for _, x := range bareLoops {
		g = append(g, Case{Workload: "Readiness", Impl: x.impl, Against: "goroutine", Unit: "event", Open: func() (Runner, error) {
			return openPipeLoop(x.open)
		}})
	}
	return g
}

// pipeRunner writes a byte, and gets from seen the time at which the watcher ran.
type pipeRunner struct {
	write func([]byte) (int, error)
	seen  chan time.Time
	close func() error
}

func (r *pipeRunner) Run(n int) (Slice, error) {
	samples, byteToWrite := newLatencies(), []byte{1}
	for range n {
		settle()
		settle()
		began := time.Now()
		if _, err := r.write(byteToWrite); err != nil {
			return Slice{}, err
		}
		if err := samples.add((<-r.seen).Sub(began)); err != nil {
			return Slice{}, err
		}
	}
	return samples.slice(0), nil
}

func (r *pipeRunner) Close() error { return r.close() }

func openPipeReader() (Runner, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r := &pipeRunner{write: to.Write, seen: make(chan time.Time)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 16)
		for {
			if _, err := from.Read(buffer); err != nil {
				return
			}
			r.seen <- time.Now()
		}
	}()
	r.close = func() error {
		err := to.Close()
		<-ended
		return errors.Join(err, from.Close())
	}
	return r, nil
}

func openPipeLoop(open func() (Executor, error)) (Runner, error) {
	x, err := open()
	if err != nil {
		return nil, err
	}
	pipe, err := nonBlockingPipe()
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	r := &pipeRunner{seen: make(chan time.Time)}
	r.write = func(b []byte) (int, error) { return unix.Write(pipe[1], b) }
	r.close = func() error { return errors.Join(x.Close(), unix.Close(pipe[0]), unix.Close(pipe[1])) }
	buffer := make([]byte, 16)
	_, err = x.(*core.EventLoop).Register(pipe[0], core.Readable, func(core.Readiness) {
		now := time.Now()
		if _, err := unix.Read(pipe[0], buffer); err == nil {
			r.seen <- now
		}
	})
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func nonBlockingPipe() (pipe [2]int, err error) {
	err = unix.Pipe2(pipe[:], unix.O_NONBLOCK|unix.O_CLOEXEC)
	return pipe, err
}

// registrationCases end event loops that watch n idle pipes.
func registrationCases(n int) Group {
	var g Group
	for _, x := range bareLoops {
		prepare := func() (stopper, error) { return watching(x.open, n) }
		g = append(g, Case{
			Workload: fmt.Sprintf("Shutdown/registrations=%d", n), Impl: x.impl, Unit: "stop",
			Open: runFunc(func(ops int) (Slice, error) { return stops(ops, prepare) }).open,
		})
	}
	return g
}

// watching returns a loop with n registrations. Their pipes are closed after the end,
// which is not timed.
func watching(open func() (Executor, error), n int) (stopper, error) {
	var pipes [][2]int
	s, err := loadedCore(open, func(ex stoppable) error {
		for range n {
			pipe, err := nonBlockingPipe()
			if err != nil {
				return err
			}
			pipes = append(pipes, pipe)
			if _, err := ex.(*core.EventLoop).Register(pipe[0], core.Readable, func(core.Readiness) {}); err != nil {
				return err
			}
		}
		return nil
	})
	s.after = func() {
		for _, p := range pipes {
			_ = unix.Close(p[0])
			_ = unix.Close(p[1])
		}
	}
	if err != nil {
		s.after()
	}
	return s, err
}
