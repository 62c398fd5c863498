package atomic

import (
	real "sync/atomic"
	"unsafe"

	"eventide/props/lanes/interleave/det"
)

// word is what there are atomic integers of.
type word interface {
	int32 | int64 | uint32 | uint64 | uintptr
}

// integer is the common part of the types of integers.
type integer[T word] struct {
	_ [0]real.Uint64 // aligned as those are
	o det.Obj
	v T
}

// Load is Int64.Load, and so on.
//
//go:norace
func (x *integer[T]) Load() T { return load(&x.o, &x.v) }

// Store is Int64.Store, and so on.
//
//go:norace
func (x *integer[T]) Store(n T) { store(&x.o, &x.v, n) }

// Swap is Int64.Swap, and so on.
//
//go:norace
func (x *integer[T]) Swap(n T) T { return swap(&x.o, &x.v, n) }

// CompareAndSwap is Int64.CompareAndSwap, and so on.
//
//go:norace
func (x *integer[T]) CompareAndSwap(old, n T) bool { return compareAndSwap(&x.o, &x.v, old, n) }

// Add is Int64.Add, and so on.
//
//go:norace
func (x *integer[T]) Add(n T) T { return add(&x.o, &x.v, n) }

// And is Int64.And, and so on.
//
//go:norace
func (x *integer[T]) And(n T) T { return and(&x.o, &x.v, n) }

// Or is Int64.Or, and so on.
//
//go:norace
func (x *integer[T]) Or(n T) T { return or(&x.o, &x.v, n) }

// The operations: a scheduling point, the real operation, and the record of it. The
// real ones do not care for the sign.

//go:norace
func load[T word](o *det.Obj, p *T) (v T) {
	det.Enter(o, det.OpLoad)
	if unsafe.Sizeof(v) == 4 {
		v = T(real.LoadUint32(narrow(p)))
	} else {
		v = T(real.LoadUint64(wide(p)))
	}
	det.Did(o, det.OpLoad, false, int64(v))
	return v
}

//go:norace
func store[T word](o *det.Obj, p *T, n T) {
	det.Enter(o, det.OpStore)
	if unsafe.Sizeof(n) == 4 {
		real.StoreUint32(narrow(p), uint32(n))
	} else {
		real.StoreUint64(wide(p), uint64(n))
	}
	det.Did(o, det.OpStore, true, int64(n))
}

//go:norace
func swap[T word](o *det.Obj, p *T, n T) (v T) {
	det.Enter(o, det.OpSwap)
	if unsafe.Sizeof(n) == 4 {
		v = T(real.SwapUint32(narrow(p), uint32(n)))
	} else {
		v = T(real.SwapUint64(wide(p), uint64(n)))
	}
	det.Did(o, det.OpSwap, true, int64(v))
	return v
}

//go:norace
func compareAndSwap[T word](o *det.Obj, p *T, old, n T) (ok bool) {
	det.Enter(o, det.OpCAS)
	if unsafe.Sizeof(n) == 4 {
		ok = real.CompareAndSwapUint32(narrow(p), uint32(old), uint32(n))
	} else {
		ok = real.CompareAndSwapUint64(wide(p), uint64(old), uint64(n))
	}
	det.Did(o, det.OpCAS, ok, truth(ok))
	return ok
}

//go:norace
func add[T word](o *det.Obj, p *T, n T) (v T) {
	det.Enter(o, det.OpAdd)
	if unsafe.Sizeof(n) == 4 {
		v = T(real.AddUint32(narrow(p), uint32(n)))
	} else {
		v = T(real.AddUint64(wide(p), uint64(n)))
	}
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

//go:norace
func and[T word](o *det.Obj, p *T, n T) (v T) {
	det.Enter(o, det.OpAdd)
	if unsafe.Sizeof(n) == 4 {
		v = T(real.AndUint32(narrow(p), uint32(n)))
	} else {
		v = T(real.AndUint64(wide(p), uint64(n)))
	}
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

//go:norace
func or[T word](o *det.Obj, p *T, n T) (v T) {
	det.Enter(o, det.OpAdd)
	if unsafe.Sizeof(n) == 4 {
		v = T(real.OrUint32(narrow(p), uint32(n)))
	} else {
		v = T(real.OrUint64(wide(p), uint64(n)))
	}
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

//go:norace
func narrow[T word](p *T) *uint32 { return (*uint32)(unsafe.Pointer(p)) }

//go:norace
func wide[T word](p *T) *uint64 { return (*uint64)(unsafe.Pointer(p)) }
