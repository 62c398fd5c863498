package tcp

import (
	"os"
	"syscall"
)

// flush sends what is marked, and does what follows from that. Nothing of the
// user's runs while bytes are being sent, and a failure closes the channel only
// after: so that a flush is never entered twice, nor left by a panic, and needs no
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

// sendPending sends until everything marked is sent, the kernel has no room, or the
// spin is used up. Then blocked is set, and a readiness event will come: an edge
// after EAGAIN, or one that again asks for. A short write is no EAGAIN: only that
// promises an edge.
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
			c.again()
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

// sendSome is one system call. Others may append to the buffer meanwhile: what it
// points to does not change. Requires mu, and lets go of it in between.
func (c *Channel) sendSome() (int, syscall.Errno) {
	left := c.flushMark - c.sent
	head := c.out.head
	if size := int64(head.to - head.from); size >= left || head.next == nil || c.cfg.socket != nil {
		p := head.buf[head.from : head.from+int(min(size, left))]
		c.mu.Unlock()
		defer c.mu.Lock()
		return c.sysSend(p)
	}
	total := c.shared.vector.gather(&c.out, left)
	c.mu.Unlock()
	defer c.mu.Lock()
	return sysSendChunks(c.cfg.faults, c.fd, &c.shared.vector, total)
}
