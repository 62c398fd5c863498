package sync

import (
	real "sync"

	"eventide/props/lanes/interleave/det"
)

// Map is sync.Map. Operations on different keys are independent of each other;
// Range and Clear are about all of them.
type Map struct {
	run  uint32
	all  det.Obj
	keys []*keyed
	m    real.Map
}

type keyed struct {
	key any
	o   det.Obj
}

// object returns what an operation on the key is about. A map that outlives a run
// is empty at the beginning of the next: runs must not see each other.
//
//go:norace
func (m *Map) object(key any) *det.Obj {
	m.begin()
	for _, k := range m.keys {
		if k.key == key {
			return &k.o
		}
	}
	k := &keyed{key: key}
	m.keys = append(m.keys, k)
	return &k.o
}

//go:norace
func (m *Map) begin() {
	if n := det.RunNumber(); n != m.run {
		m.run, m.keys = n, nil
		m.m.Clear()
	}
}

// Load is Map.Load.
//
//go:norace
func (m *Map) Load(key any) (any, bool) {
	o := m.object(key)
	det.Enter(o, det.OpMap)
	v, ok := m.m.Load(key)
	det.Did(o, det.OpMap, false, truth(ok))
	return v, ok
}

// Store is Map.Store.
//
//go:norace
func (m *Map) Store(key, v any) {
	o := m.object(key)
	det.Enter(o, det.OpMap)
	m.m.Store(key, v)
	m.changed(o)
}

//go:norace
func (m *Map) changed(o *det.Obj) {
	det.Did(o, det.OpMap, true, 1)
	det.Did(&m.all, det.OpMap, false, 0)
}

// LoadOrStore is Map.LoadOrStore.
//
//go:norace
func (m *Map) LoadOrStore(key, v any) (any, bool) {
	o := m.object(key)
	det.Enter(o, det.OpMap)
	got, loaded := m.m.LoadOrStore(key, v)
	m.changed(o)
	return got, loaded
}

// LoadAndDelete is Map.LoadAndDelete.
//
//go:norace
func (m *Map) LoadAndDelete(key any) (any, bool) {
	o := m.object(key)
	det.Enter(o, det.OpMap)
	v, ok := m.m.LoadAndDelete(key)
	m.changed(o)
	return v, ok
}

// Delete is Map.Delete.
//
//go:norace
func (m *Map) Delete(key any) { m.LoadAndDelete(key) }

// Swap is Map.Swap.
//
//go:norace
func (m *Map) Swap(key, v any) (any, bool) {
	o := m.object(key)
	det.Enter(o, det.OpMap)
	old, ok := m.m.Swap(key, v)
	m.changed(o)
	return old, ok
}

// CompareAndSwap is Map.CompareAndSwap.
//
//go:norace
func (m *Map) CompareAndSwap(key, old, v any) bool {
	o := m.object(key)
	det.Enter(o, det.OpMap)
	ok := m.m.CompareAndSwap(key, old, v)
	m.changed(o)
	return ok
}

// CompareAndDelete is Map.CompareAndDelete.
//
//go:norace
func (m *Map) CompareAndDelete(key, old any) bool {
	o := m.object(key)
	det.Enter(o, det.OpMap)
	ok := m.m.CompareAndDelete(key, old)
	m.changed(o)
	return ok
}

// Range is Map.Range: of what is there when it begins, in the order in which the
// keys were first used.
//
//go:norace
func (m *Map) Range(f func(key, v any) bool) {
	m.begin()
	det.Enter(&m.all, det.OpMap)
	det.Did(&m.all, det.OpMap, true, 0)
	keys := append([]*keyed(nil), m.keys...)
	for _, k := range keys {
		if v, ok := m.Load(k.key); ok && !f(k.key, v) {
			return
		}
	}
}

// Clear is Map.Clear.
//
//go:norace
func (m *Map) Clear() {
	m.begin()
	det.Enter(&m.all, det.OpMap)
	m.m.Clear()
	for _, k := range m.keys {
		det.Did(&k.o, det.OpMap, true, 0)
	}
	det.Did(&m.all, det.OpMap, true, 0)
}

// Pool is sync.Pool as a plain stack: what comes out has to be the same in every
// run of the same schedule.
type Pool struct {
	New func() any

	o    det.Obj
	run  uint32
	free []any
	m    real.Mutex // for the detector
}

//go:norace
func (p *Pool) begin() {
	if n := det.RunNumber(); n != p.run {
		p.run, p.free = n, nil
	}
}

// Get is Pool.Get.
//
//go:norace
func (p *Pool) Get() any {
	p.begin()
	det.Enter(&p.o, det.OpPool)
	p.m.Lock()
	var v any
	if n := len(p.free); n > 0 {
		v = p.free[n-1]
		p.free = p.free[:n-1]
	}
	p.m.Unlock()
	det.Did(&p.o, det.OpPool, true, 0)
	if v == nil && p.New != nil {
		v = p.New()
	}
	return v
}

// Put is Pool.Put.
//
//go:norace
func (p *Pool) Put(v any) {
	if v == nil {
		return
	}
	p.begin()
	det.Enter(&p.o, det.OpPool)
	p.m.Lock()
	p.free = append(p.free, v)
	p.m.Unlock()
	det.Did(&p.o, det.OpPool, true, 1)
}
