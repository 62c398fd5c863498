package control

import "sync"

// Mutex is a sync.Mutex for code that watches a program and is no part of it, such as a
// log. Lock and Unlock are no operations of a schedule: no other goroutine gets the turn
// there, unless Lock has to wait. Its zero value is unlocked.
type Mutex struct{ mu sync.Mutex }

// Lock locks m, and waits while another goroutine has it.
func (m *Mutex) Lock() {
	hush()
	m.mu.Lock()
	loud()
}

// Unlock unlocks m.
func (m *Mutex) Unlock() {
	hush()
	m.mu.Unlock()
	loud()
}

// Mark enters into the trace of a schedule, if package inprocess makes one, that the
// program's own log has one more entry. Any goroutine may call it; it is no operation.
func Mark() { mark() }
