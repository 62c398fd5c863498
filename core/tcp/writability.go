package tcp

// mostNotifications bounds the calls of WritabilityChanged in one body. Without the bound,
// the body of a handler that always writes, to a peer that reads as fast, would not end.
const mostNotifications = 16

// notifyWritability calls WritabilityChanged if the writability differs from that at the
// previous call, or if the channel became unwritable and writable again without a call in
// between. Such changes happen inside a call of the handler, or before the loop handles a
// write of another goroutine. A writer that saw the channel unwritable in between waits for
// the call. The tempting wrong version compares only the two values, and this writer waits
// for ever.
//
// Calls are not nested: if the handler writes inside WritabilityChanged, the next call
// follows after the current one has returned. Loop only.
func (c *Channel) notifyWritability() {
	if c.notifying {
		c.takeWritabilityChange(false)
		return
	}
	c.notifying = true
	defer func() { c.notifying = false }()
	for range mostNotifications {
		if !c.takeWritabilityChange(true) {
			return
		}
		c.call(func() { c.handler.WritabilityChanged(c) })
	}
	if c.takeWritabilityChange(false) {
		c.reg.Post(c.notifyWritability)
	}
}

// takeWritabilityChange makes the channel writable if it is below the low mark, and reports
// whether the handler has to be called. If so and notify is set, it records the change as
// notified; the caller must make the call. It returns false for a channel that closes
// (R224). Loop only.
func (c *Channel) takeWritabilityChange(notify bool) bool {
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
		c.notifiedWritable, c.crossed = writable, false
	}
	return true
}
