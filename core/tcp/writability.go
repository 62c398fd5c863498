package tcp

// mostTellings bounds the changes of writability that are told in one body: a
// handler that writes whenever it may, to a peer as fast, would not end.
const mostTellings = 16

// tellWritability calls the handler if the channel's writability is not the one that
// the handler knows, or if the channel is writable again after an unwritability that
// ended unheard: inside a call of the handler, or before the loop had heard of a write
// from outside. A writer may have seen that unwritability, and wait for the event.
// The tempting wrong version compares the two values alone, and that writer waits for
// ever. tellWritability is not entered twice: a handler that writes in
// WritabilityChanged is told of the next change after that call has returned. Loop only.
func (c *Channel) tellWritability() {
	if c.telling {
		c.writabilityIsNews(false)
		return
	}
	c.telling = true
	defer func() { c.telling = false }()
	for i := 0; c.writabilityIsNews(i < mostTellings); i++ {
		if i == mostTellings {
			c.reg.Post(c.tellWritability)
			return
		}
		c.call(func() { c.handler.WritabilityChanged(c) })
	}
}

// writabilityIsNews makes the channel writable if it is below the low mark, and reports
// whether the handler is to be called. If so, and tell is set, the caller is about to
// call it. That the channel closes is not told (R224). Loop only.
func (c *Channel) writabilityIsNews(tell bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isOpen() {
		return false
	}
	if c.pending() < int64(c.cfg.low) {
		c.writable.Store(true)
	}
	writable := c.writable.Load()
	if c.told == writable && !(writable && c.crossed) {
		return false
	}
	if tell {
		c.told, c.crossed = writable, !writable
	}
	return true
}
