// Package atomic is the look-alike of sync/atomic whose operations ask the
// scheduler. The real atomics stay underneath.
package atomic

import (
	real "sync/atomic"

	"eventide/props/interleave/det"
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

// Int32 is atomic.Int32.
type Int32 struct {
	o det.Obj
	v real.Int32
}

// Load is Int32.Load.
//
//go:norace
func (x *Int32) Load() int32 {
	det.Enter(&x.o, det.OpLoad)
	v := x.v.Load()
	det.Did(&x.o, det.OpLoad, false, int64(v))
	return v
}

// Store is Int32.Store.
//
//go:norace
func (x *Int32) Store(n int32) {
	det.Enter(&x.o, det.OpStore)
	x.v.Store(n)
	det.Did(&x.o, det.OpStore, true, int64(n))
}

// Swap is Int32.Swap.
//
//go:norace
func (x *Int32) Swap(n int32) int32 {
	det.Enter(&x.o, det.OpSwap)
	v := x.v.Swap(n)
	det.Did(&x.o, det.OpSwap, true, int64(v))
	return v
}

// CompareAndSwap is Int32.CompareAndSwap.
//
//go:norace
func (x *Int32) CompareAndSwap(old, n int32) bool {
	det.Enter(&x.o, det.OpCAS)
	ok := x.v.CompareAndSwap(old, n)
	det.Did(&x.o, det.OpCAS, ok, truth(ok))
	return ok
}

// Add is Int32.Add.
//
//go:norace
func (x *Int32) Add(n int32) int32 {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.Add(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// And is Int32.And.
//
//go:norace
func (x *Int32) And(n int32) int32 {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.And(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// Or is Int32.Or.
//
//go:norace
func (x *Int32) Or(n int32) int32 {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.Or(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// Int64 is atomic.Int64.
type Int64 struct {
	o det.Obj
	v real.Int64
}

// Load is Int64.Load.
//
//go:norace
func (x *Int64) Load() int64 {
	det.Enter(&x.o, det.OpLoad)
	v := x.v.Load()
	det.Did(&x.o, det.OpLoad, false, int64(v))
	return v
}

// Store is Int64.Store.
//
//go:norace
func (x *Int64) Store(n int64) {
	det.Enter(&x.o, det.OpStore)
	x.v.Store(n)
	det.Did(&x.o, det.OpStore, true, int64(n))
}

// Swap is Int64.Swap.
//
//go:norace
func (x *Int64) Swap(n int64) int64 {
	det.Enter(&x.o, det.OpSwap)
	v := x.v.Swap(n)
	det.Did(&x.o, det.OpSwap, true, int64(v))
	return v
}

// CompareAndSwap is Int64.CompareAndSwap.
//
//go:norace
func (x *Int64) CompareAndSwap(old, n int64) bool {
	det.Enter(&x.o, det.OpCAS)
	ok := x.v.CompareAndSwap(old, n)
	det.Did(&x.o, det.OpCAS, ok, truth(ok))
	return ok
}

// Add is Int64.Add.
//
//go:norace
func (x *Int64) Add(n int64) int64 {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.Add(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// And is Int64.And.
//
//go:norace
func (x *Int64) And(n int64) int64 {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.And(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// Or is Int64.Or.
//
//go:norace
func (x *Int64) Or(n int64) int64 {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.Or(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// Uint32 is atomic.Uint32.
type Uint32 struct {
	o det.Obj
	v real.Uint32
}

// Load is Uint32.Load.
//
//go:norace
func (x *Uint32) Load() uint32 {
	det.Enter(&x.o, det.OpLoad)
	v := x.v.Load()
	det.Did(&x.o, det.OpLoad, false, int64(v))
	return v
}

// Store is Uint32.Store.
//
//go:norace
func (x *Uint32) Store(n uint32) {
	det.Enter(&x.o, det.OpStore)
	x.v.Store(n)
	det.Did(&x.o, det.OpStore, true, int64(n))
}

// Swap is Uint32.Swap.
//
//go:norace
func (x *Uint32) Swap(n uint32) uint32 {
	det.Enter(&x.o, det.OpSwap)
	v := x.v.Swap(n)
	det.Did(&x.o, det.OpSwap, true, int64(v))
	return v
}

// CompareAndSwap is Uint32.CompareAndSwap.
//
//go:norace
func (x *Uint32) CompareAndSwap(old, n uint32) bool {
	det.Enter(&x.o, det.OpCAS)
	ok := x.v.CompareAndSwap(old, n)
	det.Did(&x.o, det.OpCAS, ok, truth(ok))
	return ok
}

// Add is Uint32.Add.
//
//go:norace
func (x *Uint32) Add(n uint32) uint32 {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.Add(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// And is Uint32.And.
//
//go:norace
func (x *Uint32) And(n uint32) uint32 {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.And(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// Or is Uint32.Or.
//
//go:norace
func (x *Uint32) Or(n uint32) uint32 {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.Or(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// Uint64 is atomic.Uint64.
type Uint64 struct {
	o det.Obj
	v real.Uint64
}

// Load is Uint64.Load.
//
//go:norace
func (x *Uint64) Load() uint64 {
	det.Enter(&x.o, det.OpLoad)
	v := x.v.Load()
	det.Did(&x.o, det.OpLoad, false, int64(v))
	return v
}

// Store is Uint64.Store.
//
//go:norace
func (x *Uint64) Store(n uint64) {
	det.Enter(&x.o, det.OpStore)
	x.v.Store(n)
	det.Did(&x.o, det.OpStore, true, int64(n))
}

// Swap is Uint64.Swap.
//
//go:norace
func (x *Uint64) Swap(n uint64) uint64 {
	det.Enter(&x.o, det.OpSwap)
	v := x.v.Swap(n)
	det.Did(&x.o, det.OpSwap, true, int64(v))
	return v
}

// CompareAndSwap is Uint64.CompareAndSwap.
//
//go:norace
func (x *Uint64) CompareAndSwap(old, n uint64) bool {
	det.Enter(&x.o, det.OpCAS)
	ok := x.v.CompareAndSwap(old, n)
	det.Did(&x.o, det.OpCAS, ok, truth(ok))
	return ok
}

// Add is Uint64.Add.
//
//go:norace
func (x *Uint64) Add(n uint64) uint64 {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.Add(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// And is Uint64.And.
//
//go:norace
func (x *Uint64) And(n uint64) uint64 {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.And(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// Or is Uint64.Or.
//
//go:norace
func (x *Uint64) Or(n uint64) uint64 {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.Or(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// Uintptr is atomic.Uintptr.
type Uintptr struct {
	o det.Obj
	v real.Uintptr
}

// Load is Uintptr.Load.
//
//go:norace
func (x *Uintptr) Load() uintptr {
	det.Enter(&x.o, det.OpLoad)
	v := x.v.Load()
	det.Did(&x.o, det.OpLoad, false, int64(v))
	return v
}

// Store is Uintptr.Store.
//
//go:norace
func (x *Uintptr) Store(n uintptr) {
	det.Enter(&x.o, det.OpStore)
	x.v.Store(n)
	det.Did(&x.o, det.OpStore, true, int64(n))
}

// Swap is Uintptr.Swap.
//
//go:norace
func (x *Uintptr) Swap(n uintptr) uintptr {
	det.Enter(&x.o, det.OpSwap)
	v := x.v.Swap(n)
	det.Did(&x.o, det.OpSwap, true, int64(v))
	return v
}

// CompareAndSwap is Uintptr.CompareAndSwap.
//
//go:norace
func (x *Uintptr) CompareAndSwap(old, n uintptr) bool {
	det.Enter(&x.o, det.OpCAS)
	ok := x.v.CompareAndSwap(old, n)
	det.Did(&x.o, det.OpCAS, ok, truth(ok))
	return ok
}

// Add is Uintptr.Add.
//
//go:norace
func (x *Uintptr) Add(n uintptr) uintptr {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.Add(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// And is Uintptr.And.
//
//go:norace
func (x *Uintptr) And(n uintptr) uintptr {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.And(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

// Or is Uintptr.Or.
//
//go:norace
func (x *Uintptr) Or(n uintptr) uintptr {
	det.Enter(&x.o, det.OpAdd)
	v := x.v.Or(n)
	det.Did(&x.o, det.OpAdd, true, int64(v))
	return v
}

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
