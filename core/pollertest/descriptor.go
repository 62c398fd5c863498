package pollertest

import "errors"

// Source is one end of a connection, which the poller watches; the case has the other end.
// Descriptor is a Source of Model. Tests of real pollers bring their own.
type Source interface {
	FD() int
	Input() error  // sends input to the watched end
	Drain() error  // reads all input
	Fill() error   // writes until there is no room
	Room() error   // reads at the case's end what Fill has written
	HangUp() error // closes the case's end
	Close() error  // closes the watched end
}

// Descriptor is a Source of a Model.
type Descriptor struct {
	m  *Model
	fd int

	// Guarded by m.mu.
	input, full, hungUp, failed bool
	closed                      bool
}

// Open returns a new descriptor with the lowest free number. It has no input, and room
// for output.
func (m *Model) Open() *Descriptor {
	m.mu.Lock()
	defer m.mu.Unlock()
	fd := 3
	for m.open[fd] != nil {
		fd++
	}
	return m.at(fd)
}

// At returns the descriptor with that number, and opens it if the number is free.
func (m *Model) At(fd int) *Descriptor {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at(fd)
}

// at requires mu.
func (m *Model) at(fd int) *Descriptor {
	if m.open[fd] == nil {
		m.open[fd] = &Descriptor{m: m, fd: fd}
	}
	return m.open[fd]
}

// FD returns the number.
func (d *Descriptor) FD() int { return d.fd }

// Input adds input. If there is input already it is still a new edge, as with epoll.
func (d *Descriptor) Input() error { return d.change(func() { d.input = true }) }

// Readable reports whether there is input.
func (d *Descriptor) Readable() bool {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	return d.input
}

// Drain reads all input.
func (d *Descriptor) Drain() error { return d.quietly(func() { d.input = false }) }

// Fill writes until there is no room.
func (d *Descriptor) Fill() error { return d.quietly(func() { d.full = true }) }

// Room makes room for output.
func (d *Descriptor) Room() error { return d.change(func() { d.full = false }) }

// HangUp closes the script's end.
func (d *Descriptor) HangUp() error { return d.change(func() { d.hungUp = true }) }

// Fault sets an error on the descriptor.
func (d *Descriptor) Fault() error { return d.change(func() { d.failed = true }) }

// Close closes the registered end: its number is free from now on, and a poller that
// still watches it drops it without notice, as an operating system does.
func (d *Descriptor) Close() error {
	return d.quietly(func() {
		d.closed = true
		delete(d.m.open, d.fd)
		d.m.forget(d.fd)
	})
}

// change applies a change that the poller has to report.
func (d *Descriptor) change(f func()) error {
	return d.quietly(func() {
		f()
		if w := d.m.find(d.fd); w != nil {
			w.edge = true
			d.m.wakeFor(w)
		}
	})
}

var errClosed = errors.New("pollertest: descriptor is closed")

func (d *Descriptor) quietly(f func()) error {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if d.closed {
		return errClosed
	}
	f()
	return nil
}
