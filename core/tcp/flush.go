package tcp

import (
	"os"
	"syscall"
)

// flush sends the bytes up to flushMark, completes futures, and calls the handler. No code
// of the user runs while bytes are being sent, and an error closes the channel only in a
// later body. So a flush is never entered twice and never left by a panic, and needs no
// flag that could stay set (netty #1600, #1609). Loop only.
func (c *Channel) flush() {
	err := c.sendPending()
	c.completeWrites()
	c.notifyWritability()
	c.finishOutput()
	if err != nil {
		c.failSoon(err)
	}
}

// sendPending sends until all bytes up to flushMark are sent, the kernel has no room, or
// the spin is used up. In the last two cases it sets blocked, and a readiness event will
// follow: the poller's edge after EAGAIN, or the event of rearm. A short write does not end
// the loop: only EAGAIN guarantees an edge.
func (c *Channel) sendPending() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil || c.state != stateOpen && c.state != stateDraining {
		return nil
	}
	c.blocked = false
	for spin := 0; c.sent < c.flushMark; spin++ {
		if spin == c.cfg.writeSpin {
			c.blocked = true
			c.rearm()
			return nil
		}
		n, errno := c.sendSome()
		if errno == syscall.EAGAIN {
			c.blocked = true
			return nil
		}
		if errno != 0 {
			return os.NewSyscallError("send", errno)
		}
		c.out.drop(&c.shared.pool, n)
		c.sent += int64(n)
		c.hasWritten()
	}
	return nil
}

// sendSome makes one system call. It releases mu during the call: other goroutines may
// append to the buffer, which does not move the bytes that are being sent. Requires mu.
func (c *Channel) sendSome() (int, syscall.Errno) {
	left := c.flushMark - c.sent
	head := c.out.head
	if size := int64(head.to - head.from); size >= left || c.cfg.socket != nil {
		p := head.buf[head.from : head.from+int(min(size, left))]
		c.mu.Unlock()
		defer c.mu.Lock()
		return c.sysSend(p)
	}
	// The first chunk holds less than left, so there is another one.
	total := c.shared.vector.gather(&c.out, left)
	c.mu.Unlock()
	defer c.mu.Lock()
	return sysSendChunks(c.cfg.faults, c.fd, &c.shared.vector, total)
}
