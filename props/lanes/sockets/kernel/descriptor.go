//go:build linux

package kernel

// descriptor is an open descriptor that several goroutines use: the last call that needs it closes
// it after Close, as package internal/poll does.
type descriptor struct {
	k  *Kernel
	fd int

	// Guarded by k.mu.
	users  int // calls that need it
	closed bool
	gone   chan struct{} // closed after the descriptor is closed; nil: no call waits for that
}

// use keeps the descriptor open until release.
func (d *descriptor) use() error {
	d.k.mu.Lock()
	defer d.k.mu.Unlock()
	if d.closed {
		return errFileClosing
	}
	d.users++
	return nil
}

func (d *descriptor) release() {
	d.k.mu.Lock()
	d.users--
	last, gone := d.closed && d.users == 0, d.gone
	d.k.mu.Unlock()
	if !last {
		return
	}
	_ = d.closeDescriptor()
	if gone != nil {
		close(gone)
	}
}

// closeUnused closes the descriptor and returns when no call uses it, or false if it was closed
// before. wake is called with mu held, and ends the calls that wait.
func (d *descriptor) closeUnused(wake func()) bool {
	d.k.mu.Lock()
	if d.closed {
		d.k.mu.Unlock()
		return false
	}
	d.closed = true
	wake()
	var gone chan struct{}
	if d.users > 0 {
		gone = make(chan struct{})
		d.gone = gone
	}
	d.k.mu.Unlock()
	if gone == nil {
		_ = d.closeDescriptor()
	} else {
		<-gone
	}
	return true
}

func (d *descriptor) closeDescriptor() error {
	if errno := d.k.Close(d.fd); errno != 0 {
		return errno
	}
	return nil
}

// control is Control of a syscall.RawConn.
func (d *descriptor) control(do func(fd uintptr)) error {
	if err := d.use(); err != nil {
		return err
	}
	defer d.release()
	do(uintptr(d.fd))
	return nil
}
