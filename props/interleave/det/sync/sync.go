// Package sync is the look-alike of sync whose operations ask the scheduler.
package sync

import (
	real "sync"

	"eventide/props/interleave/det"
)

// Locker is sync.Locker.
type Locker = real.Locker

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
	det.Enter(&m.o, det.OpLock)
	for !m.m.TryLock() {
		det.Block(det.OpLock, &m.o)
	}
	det.Did(&m.o, det.OpLock, true, 1)
}

// TryLock is Mutex.TryLock.
//
//go:norace
func (m *Mutex) TryLock() bool {
	det.Enter(&m.o, det.OpTryLock)
	ok := m.m.TryLock()
	det.Did(&m.o, det.OpTryLock, ok, truth(ok))
	return ok
}

// Unlock is Mutex.Unlock.
//
//go:norace
func (m *Mutex) Unlock() {
	det.Enter(&m.o, det.OpUnlock)
	m.m.Unlock()
	det.Did(&m.o, det.OpUnlock, true, 0)
	det.Wake(&m.o)
}

//go:norace
func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// RWMutex is sync.RWMutex. A waiting writer does not keep readers out: which of
// them comes first is for the strategy to say.
type RWMutex struct {
	o det.Obj
	m real.RWMutex
}

// Lock is RWMutex.Lock.
//
//go:norace
func (m *RWMutex) Lock() {
	if !det.Active() {
		m.m.Lock()
		return
	}
	det.Enter(&m.o, det.OpLock)
	for !m.m.TryLock() {
		det.Block(det.OpLock, &m.o)
	}
	det.Did(&m.o, det.OpLock, true, 1)
}

// TryLock is RWMutex.TryLock.
//
//go:norace
func (m *RWMutex) TryLock() bool {
	det.Enter(&m.o, det.OpTryLock)
	ok := m.m.TryLock()
	det.Did(&m.o, det.OpTryLock, ok, truth(ok))
	return ok
}

// Unlock is RWMutex.Unlock.
//
//go:norace
func (m *RWMutex) Unlock() {
	det.Enter(&m.o, det.OpUnlock)
	m.m.Unlock()
	det.Did(&m.o, det.OpUnlock, true, 0)
	det.Wake(&m.o)
}

// RLock is RWMutex.RLock.
//
//go:norace
func (m *RWMutex) RLock() {
	if !det.Active() {
		m.m.RLock()
		return
	}
	det.Enter(&m.o, det.OpRLock)
	for !m.m.TryRLock() {
		det.Block(det.OpRLock, &m.o)
	}
	det.Did(&m.o, det.OpRLock, true, 1)
}

// TryRLock is RWMutex.TryRLock.
//
//go:norace
func (m *RWMutex) TryRLock() bool {
	det.Enter(&m.o, det.OpRLock)
	ok := m.m.TryRLock()
	det.Did(&m.o, det.OpRLock, ok, truth(ok))
	return ok
}

// RUnlock is RWMutex.RUnlock.
//
//go:norace
func (m *RWMutex) RUnlock() {
	det.Enter(&m.o, det.OpRUnlock)
	m.m.RUnlock()
	det.Did(&m.o, det.OpRUnlock, true, 0)
	det.Wake(&m.o)
}

// RLocker is RWMutex.RLocker.
func (m *RWMutex) RLocker() Locker { return (*rlocker)(m) }

type rlocker RWMutex

func (r *rlocker) Lock()   { (*RWMutex)(r).RLock() }
func (r *rlocker) Unlock() { (*RWMutex)(r).RUnlock() }
