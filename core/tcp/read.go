package tcp

import (
	"io"
	"os"
	"syscall"
)

// mostReads bounds the reads of one readiness: after them it is the others' turn.
const mostReads = 16

// wantsInput reports whether to read: to deliver, or to discard. Loop only.
func (c *Channel) wantsInput() bool {
	if c.inputEnded || c.broken != nil {
		return false
	}
	return c.state == stateDraining || c.state == stateOpen && !c.paused.Load() && !c.shared.noInput
}

// read delivers what there is, or discards it while the channel drains. With edges
// whatever is left must be remembered: inputReady is. A read that is not full has
// emptied the socket, and what comes later is a new edge. That saves a read per
// message (netty reads an edge until EAGAIN), and there are two exceptions, which
// the readiness names: the end of the input, or an error, may have been part of this
// edge; and a read ends in front of urgent data, whatever is behind. Then only
// EAGAIN says that the socket is empty. Loop only.
func (c *Channel) read() {
	if c.reading {
		return // a handler resumed it: the loop below goes on
	}
	c.reading = true
	defer func() { c.reading = false }()
	delivered := false
	for i := 0; c.inputReady && c.wantsInput(); i++ {
		if i == mostReads {
			c.again()
			break
		}
		buf := c.shared.buffer(c.cfg.readBuffer)
		n, errno := c.sysRead(buf)
		if errno != 0 || n == 0 {
			c.readEnds(delivered, errno)
			return
		}
		c.hasRead()
		if n < len(buf) && !c.toEAGAIN {
			c.inputReady = false
		}
		if c.state == stateOpen {
			delivered = true
			c.call(func() { c.handler.Read(c, buf[:n]) })
		}
	}
	c.readComplete(delivered)
}

// resumeInput is SetAutoRead(true) after a pause. Loop only.
func (c *Channel) resumeInput() {
	c.inputWaits()
	c.read()
}

// readEnds is after a read that brought nothing.
func (c *Channel) readEnds(delivered bool, errno syscall.Errno) {
	c.inputReady = false
	c.readComplete(delivered)
	switch errno {
	case syscall.EAGAIN:
		c.toEAGAIN = false
	case 0:
		c.inputEnds()
	default:
		c.fail(readError(errno))
	}
}

func readError(errno syscall.Errno) error { return os.NewSyscallError("read", errno) }

func (c *Channel) readComplete(delivered bool) {
	if delivered && c.state == stateOpen {
		c.call(func() { c.handler.ReadComplete(c) })
	}
}

// inputEnds is called once, when the peer's end of the stream was read (R220).
func (c *Channel) inputEnds() {
	if c.broken != nil || c.state != stateOpen && c.state != stateDraining {
		return // ReadComplete has closed it, or it is about to be closed for what failed there
	}
	c.inputEnded = true
	switch {
	case c.state == stateDraining:
		c.finishOutput()
	case !c.cfg.halfClosure:
		c.endForEOF()
	default:
		c.call(func() { c.handler.InputShutdown(c) })
		if c.state == stateOpen {
			c.call(func() { c.handler.ReadComplete(c) })
		}
		c.finishOutput()
	}
}

// endForEOF is the end without half closure. A peer that has ended its side may wait
// for the rest of its answer, and most do: what was written is sent first. (Netty
// closes, and drops it: R220.) If a graceful end was asked for, it is on its way to
// the loop, and is the one that has promised more: to close for the end of the input
// before it comes would lose what the peer's kernel has not acknowledged (G23).
//
// That nothing is left to send, and that nothing more is accepted, is one step. The
// tempting wrong version looks, and lets go of the lock before it closes: what is
// written in between is accepted, and lost by an end that counts as drained (G23).
func (c *Channel) endForEOF() {
	left, err := c.sysUnacknowledged()
	clean := left == 0 && err == nil
	c.mu.Lock()
	pending, graceful := c.pending(), c.closing || c.loopEnds()
	owed := pending > 0 || c.noOutput // CloseOutput has promised to flush
	held := !graceful && c.waitForRelease()
	if !graceful && !owed && !held {
		c.leave(io.EOF, clean)
	}
	c.mu.Unlock()
	switch {
	case graceful, held:
	case owed:
		c.drain(io.EOF)
	case c.cfg.linger > 0:
		c.startLinger()
	default:
		c.closeNow(io.EOF, clean)
	}
}
