// Package sync is the look-alike of sync whose operations ask the scheduler.
package sync

import (
	real "sync"

	"eventide/props/lanes/interleave/det"
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
func (m *Mutex) Lock() { lock(&m.o, &m.m) }

// TryLock is Mutex.TryLock.
//
//go:norace
func (m *Mutex) TryLock() bool { return tryLock(&m.o, &m.m) }

// Unlock is Mutex.Unlock.
//
//go:norace
func (m *Mutex) Unlock() { unlock(&m.o, &m.m) }

// exclusive is the real lock under a Mutex or an RWMutex.
type exclusive interface {
	Lock()
	TryLock() bool
	Unlock()
}

//go:norace
func lock(o *det.Obj, m exclusive) {
	if !det.Active() {
		m.Lock()
		return
	}
	det.Enter(o, det.OpLock)
	for !m.TryLock() {
		det.Block(det.OpLock, o)
	}
	det.Did(o, det.OpLock, true, 1)
}

//go:norace
func tryLock(o *det.Obj, m exclusive) bool {
	det.Enter(o, det.OpTryLock)
	ok := m.TryLock()
	det.Did(o, det.OpTryLock, ok, truth(ok))
	return ok
}

//go:norace
func unlock(o *det.Obj, m exclusive) {
	det.Enter(o, det.OpUnlock)
	m.Unlock()
	det.Did(o, det.OpUnlock, true, 0)
	det.Wake(o)
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
func (m *RWMutex) Lock() { lock(&m.o, &m.m) }

// TryLock is RWMutex.TryLock.
//
//go:norace
func (m *RWMutex) TryLock() bool { return tryLock(&m.o, &m.m) }

// Unlock is RWMutex.Unlock.
//
//go:norace
func (m *RWMutex) Unlock() { unlock(&m.o, &m.m) }

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
