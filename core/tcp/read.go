package tcp

import (
	"io"
	"os"
	"syscall"
)

// mostReads bounds the reads of one readiness event: then the loop serves other channels.
const mostReads = 16

// wantsInput reports whether to read, for delivery or to discard. Loop only.
func (c *Channel) wantsInput() bool {
	if c.inputEnded || c.broken != nil {
		return false
	}
	return c.state == stateDraining || c.state == stateOpen && !c.paused.Load() && !c.shared.noInput
}

// read delivers the input, or discards it while the channel drains. The registration is
// edge-triggered: inputReady records that input may be left. A read that does not fill the
// buffer has emptied the socket, and later input causes a new edge; so one message
// costs one read (netty reads each edge until EAGAIN). There are two exceptions, which the
// readiness reports: the edge may include the end of the input or an error; and a read stops
// in front of urgent data, whatever follows it. Then only EAGAIN shows that the socket is
// empty. Loop only, and only in a body of its own: a call in a handler would overwrite what the
// handler of this or another channel is reading.
func (c *Channel) read() {
	delivered := false
	for i := 0; c.inputReady && c.wantsInput(); i++ {
		if i == mostReads {
			c.rearm()
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

// resumeInput continues after SetAutoRead(true) has ended a pause. Loop only.
func (c *Channel) resumeInput() {
	c.inputWaits()
	c.read()
}

// readEnds handles a read that returned no bytes.
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

// inputEnds handles the peer's end of the stream. It is called at most once (R220).
func (c *Channel) inputEnds() {
	if c.broken != nil || c.state != stateOpen && c.state != stateDraining {
		return // ReadComplete has closed the channel, or fail is posted
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

// endForEOF ends a channel without half closure at the peer's end of the stream. The peer
// may still wait for the rest of an answer, so the buffer is sent first. (Netty closes, and
// drops it: R220.) If a graceful close was requested, the loop will begin it, and endForEOF
// leaves the end to it: a graceful close waits for acknowledgements; a close for the end of
// the stream does not, and could lose bytes (G23).
//
// With WithLinger(0) the close is a reset, so the end does not count as drained (G23).
//
// The check that the buffer is empty and the refusal of further writes are one critical
// section. The tempting wrong version releases mu between them: a write in between is
// accepted, and lost by an end that counts as drained (G23).
func (c *Channel) endForEOF() {
	left, err := c.sysUnacknowledged()
	clean := left == 0 && err == nil && !c.cfg.resetsOnClose()
	c.mu.Lock()
	pending, graceful := c.pending(), c.closing || c.loopEnds()
	owed := pending > 0 || c.noOutput // CloseOutput promises to flush
	held := !graceful && c.waitForRelease()
	if !graceful && !owed && !held {
		c.markClosed(io.EOF, clean)
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
