// Package sync is the look-alike of sync for a test harness: its locks are no
// scheduling points, since what they guard is not under test; but who has to wait
// for one gives way.
package sync

import (
	real "sync"

	"eventide/props/lanes/interleave/det"
	detsync "eventide/props/lanes/interleave/det/sync"
)

// WaitGroup waits for goroutines of the harness.
type WaitGroup = detsync.WaitGroup

// Mutex is sync.Mutex.
type Mutex struct {
	o det.Obj
	m real.Mutex
}

// Lock is Mutex.Lock.
//
//go:norace
func (m *Mutex) Lock() {
	if !det.Active() {
		m.m.Lock()
		return
	}
	for !m.m.TryLock() {
		det.Block(det.OpLock, &m.o)
	}
}

// Unlock is Mutex.Unlock.
//
//go:norace
func (m *Mutex) Unlock() {
	m.m.Unlock()
	det.Wake(&m.o)
}
