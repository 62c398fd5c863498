package pools

import (
	"sync"
	"sync/atomic"
)

// drainer is a loop over a channel and a quit signal, after which it drains the channel
// and ends.
//
// The mistake: it ends when it finds the channel empty, while a submitter that saw the
// pool open has yet to send.
type drainer struct {
	mistaken bool
	closed   atomic.Bool
	senders  atomic.Int64 // submitters that may have seen the pool open
	quiet    chan struct{}
	tasks    chan func()
	quit     chan struct{}
	once     sync.Once
	done     chan struct{}
}

func newDrainer(mistaken bool) *drainer {
	d := &drainer{
		mistaken: mistaken, tasks: make(chan func(), 256),
		quit: make(chan struct{}), quiet: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go d.loop()
	return d
}

func (d *drainer) Submit(task func()) error {
	d.senders.Add(1)
	defer d.leave()
	if d.closed.Load() {
		return errClosed
	}
	d.tasks <- task
	return nil
}

// leave signals that no submitter is left.
func (d *drainer) leave() {
	if d.senders.Add(-1) == 0 && d.closed.Load() {
		select {
		case d.quiet <- struct{}{}:
		default:
		}
	}
}

func (d *drainer) Stop() {
	d.once.Do(func() {
		d.closed.Store(true)
		close(d.quit)
	})
}

func (d *drainer) Done() <-chan struct{} { return d.done }

func (d *drainer) loop() {
	defer close(d.done)
	for {
		select {
		case task := <-d.tasks:
			task()
		case <-d.quit:
			for !d.mistaken && d.senders.Load() > 0 {
				d.drainUntilQuiet()
			}
			d.drain()
			return
		}
	}
}

func (d *drainer) drainUntilQuiet() {
	select {
	case task := <-d.tasks:
		task()
	case <-d.quiet:
	}
}

func (d *drainer) drain() {
	for {
		select {
		case task := <-d.tasks:
			task()
		default:
			return
		}
	}
}
