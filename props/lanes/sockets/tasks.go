//go:build linux

package sockets

import "time"

// submitted counts the tasks, or the timers, that were submitted to the executor of a
// channel. Guarded by conn.mu.
type submitted struct {
	accepted, ran int
	due           []time.Time // of timers
}

// submit submits a task to the executor of the channel, or a timer.
func (c *conn) submit(ch channel, a Action) {
	which, late := &c.tasks, time.Time{}
	if a.Kind == "Timer" {
		which, late = &c.timers, time.Now().Add(milliseconds(a.Wait))
	}
	body := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		which.ran++
		if time.Now().Before(late) {
			c.violateLocked("G7: a timer runs %v early", time.Until(late))
		}
	}
	var err error
	if a.Kind == "Timer" {
		_, err = ch.EventLoop().Schedule(milliseconds(a.Wait), body)
	} else {
		err = ch.EventLoop().Execute(body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		which.accepted++
		which.due = append(which.due, late)
	}
}

// overdue returns how many tasks and timers have been accepted, should have run, and have not.
// Requires mu.
func (c *conn) overdue() int {
	due := c.tasks.accepted
	for _, at := range c.timers.due {
		if at.Before(time.Now()) {
			due++
		}
	}
	return due - c.tasks.ran - c.timers.ran
}

// judgeTasks checks that accepted tasks have run exactly once (G3). A shutdown may cancel timers.
func (c *conn) judgeTasks() {
	if c.tasks.ran != c.tasks.accepted || c.timers.ran > c.timers.accepted {
		c.violate("G3: %d of %d accepted tasks and %d of %d timers have run", c.tasks.ran, c.tasks.accepted, c.timers.ran, c.timers.accepted)
	}
}
