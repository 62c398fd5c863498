package atomic

import (
	real "sync/atomic"
	"unsafe"

	"eventide/props/interleave/det"
)

// The functions work on plain words, so what is known of a word lies beside it. It
// is found by the address, which is good as long as the word lives: a run keeps it.
type word struct {
	at unsafe.Pointer
	o  det.Obj
}

var (
	words []*word
	run   uint32
)

//go:norace
func object(at unsafe.Pointer) *det.Obj {
	if n := det.RunNumber(); n != run {
		run, words = n, nil
	}
	for _, w := range words {
		if w.at == at {
			return &w.o
		}
	}
	w := &word{at: at}
	words = append(words, w)
	return &w.o
}

// LoadInt32 is atomic.LoadInt32.
//
//go:norace
func LoadInt32(p *int32) int32 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpLoad)
	v := real.LoadInt32(p)
	det.Did(o, det.OpLoad, false, int64(v))
	return v
}

// StoreInt32 is atomic.StoreInt32.
//
//go:norace
func StoreInt32(p *int32, n int32) {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpStore)
	real.StoreInt32(p, n)
	det.Did(o, det.OpStore, true, int64(n))
}

// SwapInt32 is atomic.SwapInt32.
//
//go:norace
func SwapInt32(p *int32, n int32) int32 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpSwap)
	v := real.SwapInt32(p, n)
	det.Did(o, det.OpSwap, true, int64(v))
	return v
}

// CompareAndSwapInt32 is atomic.CompareAndSwapInt32.
//
//go:norace
func CompareAndSwapInt32(p *int32, old, n int32) bool {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpCAS)
	ok := real.CompareAndSwapInt32(p, old, n)
	det.Did(o, det.OpCAS, ok, truth(ok))
	return ok
}

// AddInt32 is atomic.AddInt32.
//
//go:norace
func AddInt32(p *int32, n int32) int32 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.AddInt32(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// AndInt32 is atomic.AndInt32.
//
//go:norace
func AndInt32(p *int32, n int32) int32 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.AndInt32(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// OrInt32 is atomic.OrInt32.
//
//go:norace
func OrInt32(p *int32, n int32) int32 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.OrInt32(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// LoadInt64 is atomic.LoadInt64.
//
//go:norace
func LoadInt64(p *int64) int64 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpLoad)
	v := real.LoadInt64(p)
	det.Did(o, det.OpLoad, false, int64(v))
	return v
}

// StoreInt64 is atomic.StoreInt64.
//
//go:norace
func StoreInt64(p *int64, n int64) {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpStore)
	real.StoreInt64(p, n)
	det.Did(o, det.OpStore, true, int64(n))
}

// SwapInt64 is atomic.SwapInt64.
//
//go:norace
func SwapInt64(p *int64, n int64) int64 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpSwap)
	v := real.SwapInt64(p, n)
	det.Did(o, det.OpSwap, true, int64(v))
	return v
}

// CompareAndSwapInt64 is atomic.CompareAndSwapInt64.
//
//go:norace
func CompareAndSwapInt64(p *int64, old, n int64) bool {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpCAS)
	ok := real.CompareAndSwapInt64(p, old, n)
	det.Did(o, det.OpCAS, ok, truth(ok))
	return ok
}

// AddInt64 is atomic.AddInt64.
//
//go:norace
func AddInt64(p *int64, n int64) int64 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.AddInt64(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// AndInt64 is atomic.AndInt64.
//
//go:norace
func AndInt64(p *int64, n int64) int64 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.AndInt64(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// OrInt64 is atomic.OrInt64.
//
//go:norace
func OrInt64(p *int64, n int64) int64 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.OrInt64(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// LoadUint32 is atomic.LoadUint32.
//
//go:norace
func LoadUint32(p *uint32) uint32 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpLoad)
	v := real.LoadUint32(p)
	det.Did(o, det.OpLoad, false, int64(v))
	return v
}

// StoreUint32 is atomic.StoreUint32.
//
//go:norace
func StoreUint32(p *uint32, n uint32) {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpStore)
	real.StoreUint32(p, n)
	det.Did(o, det.OpStore, true, int64(n))
}

// SwapUint32 is atomic.SwapUint32.
//
//go:norace
func SwapUint32(p *uint32, n uint32) uint32 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpSwap)
	v := real.SwapUint32(p, n)
	det.Did(o, det.OpSwap, true, int64(v))
	return v
}

// CompareAndSwapUint32 is atomic.CompareAndSwapUint32.
//
//go:norace
func CompareAndSwapUint32(p *uint32, old, n uint32) bool {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpCAS)
	ok := real.CompareAndSwapUint32(p, old, n)
	det.Did(o, det.OpCAS, ok, truth(ok))
	return ok
}

// AddUint32 is atomic.AddUint32.
//
//go:norace
func AddUint32(p *uint32, n uint32) uint32 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.AddUint32(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// AndUint32 is atomic.AndUint32.
//
//go:norace
func AndUint32(p *uint32, n uint32) uint32 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.AndUint32(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// OrUint32 is atomic.OrUint32.
//
//go:norace
func OrUint32(p *uint32, n uint32) uint32 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.OrUint32(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// LoadUint64 is atomic.LoadUint64.
//
//go:norace
func LoadUint64(p *uint64) uint64 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpLoad)
	v := real.LoadUint64(p)
	det.Did(o, det.OpLoad, false, int64(v))
	return v
}

// StoreUint64 is atomic.StoreUint64.
//
//go:norace
func StoreUint64(p *uint64, n uint64) {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpStore)
	real.StoreUint64(p, n)
	det.Did(o, det.OpStore, true, int64(n))
}

// SwapUint64 is atomic.SwapUint64.
//
//go:norace
func SwapUint64(p *uint64, n uint64) uint64 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpSwap)
	v := real.SwapUint64(p, n)
	det.Did(o, det.OpSwap, true, int64(v))
	return v
}

// CompareAndSwapUint64 is atomic.CompareAndSwapUint64.
//
//go:norace
func CompareAndSwapUint64(p *uint64, old, n uint64) bool {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpCAS)
	ok := real.CompareAndSwapUint64(p, old, n)
	det.Did(o, det.OpCAS, ok, truth(ok))
	return ok
}

// AddUint64 is atomic.AddUint64.
//
//go:norace
func AddUint64(p *uint64, n uint64) uint64 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.AddUint64(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// AndUint64 is atomic.AndUint64.
//
//go:norace
func AndUint64(p *uint64, n uint64) uint64 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.AndUint64(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// OrUint64 is atomic.OrUint64.
//
//go:norace
func OrUint64(p *uint64, n uint64) uint64 {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.OrUint64(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// LoadUintptr is atomic.LoadUintptr.
//
//go:norace
func LoadUintptr(p *uintptr) uintptr {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpLoad)
	v := real.LoadUintptr(p)
	det.Did(o, det.OpLoad, false, int64(v))
	return v
}

// StoreUintptr is atomic.StoreUintptr.
//
//go:norace
func StoreUintptr(p *uintptr, n uintptr) {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpStore)
	real.StoreUintptr(p, n)
	det.Did(o, det.OpStore, true, int64(n))
}

// SwapUintptr is atomic.SwapUintptr.
//
//go:norace
func SwapUintptr(p *uintptr, n uintptr) uintptr {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpSwap)
	v := real.SwapUintptr(p, n)
	det.Did(o, det.OpSwap, true, int64(v))
	return v
}

// CompareAndSwapUintptr is atomic.CompareAndSwapUintptr.
//
//go:norace
func CompareAndSwapUintptr(p *uintptr, old, n uintptr) bool {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpCAS)
	ok := real.CompareAndSwapUintptr(p, old, n)
	det.Did(o, det.OpCAS, ok, truth(ok))
	return ok
}

// AddUintptr is atomic.AddUintptr.
//
//go:norace
func AddUintptr(p *uintptr, n uintptr) uintptr {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.AddUintptr(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// AndUintptr is atomic.AndUintptr.
//
//go:norace
func AndUintptr(p *uintptr, n uintptr) uintptr {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.AndUintptr(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// OrUintptr is atomic.OrUintptr.
//
//go:norace
func OrUintptr(p *uintptr, n uintptr) uintptr {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpAdd)
	v := real.OrUintptr(p, n)
	det.Did(o, det.OpAdd, true, int64(v))
	return v
}

// LoadPointer is atomic.LoadPointer.
//
//go:norace
func LoadPointer(p *unsafe.Pointer) unsafe.Pointer {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpLoad)
	v := real.LoadPointer(p)
	det.Did(o, det.OpLoad, false, truth(v != nil))
	return v
}

// StorePointer is atomic.StorePointer.
//
//go:norace
func StorePointer(p *unsafe.Pointer, n unsafe.Pointer) {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpStore)
	real.StorePointer(p, n)
	det.Did(o, det.OpStore, true, truth(n != nil))
}

// SwapPointer is atomic.SwapPointer.
//
//go:norace
func SwapPointer(p *unsafe.Pointer, n unsafe.Pointer) unsafe.Pointer {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpSwap)
	v := real.SwapPointer(p, n)
	det.Did(o, det.OpSwap, true, truth(v != nil))
	return v
}

// CompareAndSwapPointer is atomic.CompareAndSwapPointer.
//
//go:norace
func CompareAndSwapPointer(p *unsafe.Pointer, old, n unsafe.Pointer) bool {
	o := object(unsafe.Pointer(p))
	det.Enter(o, det.OpCAS)
	ok := real.CompareAndSwapPointer(p, old, n)
	det.Did(o, det.OpCAS, ok, truth(ok))
	return ok
}
