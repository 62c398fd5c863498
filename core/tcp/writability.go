package tcp

// mostNotifications bounds the calls of WritabilityChanged in one body. Without it the body of
// a handler that writes whenever it may, to a peer as fast, would not end.
const mostNotifications = 16

// notifyWritability calls the handler if the channel's writability is not the one that
// the handler knows, or if the channel is writable again after an unwritability that
// ended unheard: inside a call of the handler, or before the loop had heard of a write
// from outside. A writer may have seen that unwritability, and wait for the event.
// The tempting wrong version compares the two values alone, and that writer waits for
// ever. notifyWritability is not entered twice: after a handler has written in
// WritabilityChanged, the call for the next change follows when that call has returned.
// Loop only.
func (c *Channel) notifyWritability() {
	if c.notifying {
		c.writabilityIsNews(false)
		return
	}
	c.notifying = true
	defer func() { c.notifying = false }()
	for i := 0; c.writabilityIsNews(i < mostNotifications); i++ {
		if i == mostNotifications {
			c.reg.Post(c.notifyWritability)
			return
		}
		c.call(func() { c.handler.WritabilityChanged(c) })
	}
}

// writabilityIsNews makes the channel writable if it is below the low mark, and reports
// whether the handler is to be called. If so, and notify is set, the caller is about to
// call it. The handler is not called because the channel closes (R224). Loop only.
func (c *Channel) writabilityIsNews(notify bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isOpen() && !c.held() {
		return false
	}
	if c.pending() < int64(c.cfg.low) {
		c.writable.Store(true)
	}
	writable := c.writable.Load()
	if c.notifiedWritable == writable && !(writable && c.crossed) {
		return false
	}
	if notify {
		c.notifiedWritable, c.crossed = writable, !writable
	}
	return true
}
