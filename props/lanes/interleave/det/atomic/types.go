// Package atomic is the look-alike of sync/atomic whose operations ask the
// scheduler. The real atomics stay underneath.
package atomic

import (
	real "sync/atomic"

	"eventide/props/lanes/interleave/det"
)

// Bool is atomic.Bool.
type Bool struct {
	o det.Obj
	v real.Bool
}

//go:norace
func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Load is Bool.Load.
//
//go:norace
func (x *Bool) Load() bool {
	det.Enter(&x.o, det.OpLoad)
	v := x.v.Load()
	det.Did(&x.o, det.OpLoad, false, truth(v))
	return v
}

// Store is Bool.Store.
//
//go:norace
func (x *Bool) Store(n bool) {
	det.Enter(&x.o, det.OpStore)
	x.v.Store(n)
	det.Did(&x.o, det.OpStore, true, truth(n))
}

// Swap is Bool.Swap.
//
//go:norace
func (x *Bool) Swap(n bool) bool {
	det.Enter(&x.o, det.OpSwap)
	v := x.v.Swap(n)
	det.Did(&x.o, det.OpSwap, true, truth(v))
	return v
}

// CompareAndSwap is Bool.CompareAndSwap.
//
//go:norace
func (x *Bool) CompareAndSwap(old, n bool) bool {
	det.Enter(&x.o, det.OpCAS)
	ok := x.v.CompareAndSwap(old, n)
	det.Did(&x.o, det.OpCAS, ok, truth(ok))
	return ok
}

// The integers of sync/atomic.
type (
	Int32   struct{ integer[int32] }   // Int32 is atomic.Int32.
	Int64   struct{ integer[int64] }   // Int64 is atomic.Int64.
	Uint32  struct{ integer[uint32] }  // Uint32 is atomic.Uint32.
	Uint64  struct{ integer[uint64] }  // Uint64 is atomic.Uint64.
	Uintptr struct{ integer[uintptr] } // Uintptr is atomic.Uintptr.
)

// Pointer is atomic.Pointer.
type Pointer[T any] struct {
	o det.Obj
	v real.Pointer[T]
}

// Load is Pointer.Load.
//
//go:norace
func (x *Pointer[T]) Load() *T {
	det.Enter(&x.o, det.OpLoad)
	v := x.v.Load()
	det.Did(&x.o, det.OpLoad, false, truth(v != nil))
	return v
}

// Store is Pointer.Store.
//
//go:norace
func (x *Pointer[T]) Store(n *T) {
	det.Enter(&x.o, det.OpStore)
	x.v.Store(n)
	det.Did(&x.o, det.OpStore, true, truth(n != nil))
}

// Swap is Pointer.Swap.
//
//go:norace
func (x *Pointer[T]) Swap(n *T) *T {
	det.Enter(&x.o, det.OpSwap)
	v := x.v.Swap(n)
	det.Did(&x.o, det.OpSwap, true, truth(v != nil))
	return v
}

// CompareAndSwap is Pointer.CompareAndSwap.
//
//go:norace
func (x *Pointer[T]) CompareAndSwap(old, n *T) bool {
	det.Enter(&x.o, det.OpCAS)
	ok := x.v.CompareAndSwap(old, n)
	det.Did(&x.o, det.OpCAS, ok, truth(ok))
	return ok
}

// Value is atomic.Value.
type Value struct {
	o det.Obj
	v real.Value
}

// Load is Value.Load.
//
//go:norace
func (x *Value) Load() any {
	det.Enter(&x.o, det.OpLoad)
	v := x.v.Load()
	det.Did(&x.o, det.OpLoad, false, truth(v != nil))
	return v
}

// Store is Value.Store.
//
//go:norace
func (x *Value) Store(n any) {
	det.Enter(&x.o, det.OpStore)
	x.v.Store(n)
	det.Did(&x.o, det.OpStore, true, truth(n != nil))
}

// Swap is Value.Swap.
//
//go:norace
func (x *Value) Swap(n any) any {
	det.Enter(&x.o, det.OpSwap)
	v := x.v.Swap(n)
	det.Did(&x.o, det.OpSwap, true, truth(v != nil))
	return v
}

// CompareAndSwap is Value.CompareAndSwap.
//
//go:norace
func (x *Value) CompareAndSwap(old, n any) bool {
	det.Enter(&x.o, det.OpCAS)
	ok := x.v.CompareAndSwap(old, n)
	det.Did(&x.o, det.OpCAS, ok, truth(ok))
	return ok
}
