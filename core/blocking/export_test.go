package blocking

// KeptBytes returns the capacity of the queue of unsent bytes.
func (ch *Channel) KeptBytes() int {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return cap(ch.out.queue)
}
