package atomic

import (
	real "sync/atomic"
	"unsafe"

	"eventide/props/lanes/interleave/det"
)

// The functions work on plain all, so what is known of a word lies beside it. It
// is found by the address, which is good as long as the word lives: a run keeps it.
type known struct {
	at unsafe.Pointer
	o  det.Obj
}

var (
	all []*known
	run uint32
)

//go:norace
func object(at unsafe.Pointer) *det.Obj {
	if n := det.RunNumber(); n != run {
		run, all = n, nil
	}
	for _, w := range all {
		if w.at == at {
			return &w.o
		}
	}
	w := &known{at: at}
	all = append(all, w)
	return &w.o
}

// of is object for what the operations on integers take.
//
//go:norace
func of[T word](p *T) *det.Obj { return object(unsafe.Pointer(p)) }

// LoadInt32 is atomic.LoadInt32.
//
//go:norace
func LoadInt32(p *int32) int32 { return load(of(p), p) }

// StoreInt32 is atomic.StoreInt32.
//
//go:norace
func StoreInt32(p *int32, n int32) { store(of(p), p, n) }

// SwapInt32 is atomic.SwapInt32.
//
//go:norace
func SwapInt32(p *int32, n int32) int32 { return swap(of(p), p, n) }

// CompareAndSwapInt32 is atomic.CompareAndSwapInt32.
//
//go:norace
func CompareAndSwapInt32(p *int32, old, n int32) bool { return compareAndSwap(of(p), p, old, n) }

// AddInt32 is atomic.AddInt32.
//
//go:norace
func AddInt32(p *int32, n int32) int32 { return add(of(p), p, n) }

// AndInt32 is atomic.AndInt32.
//
//go:norace
func AndInt32(p *int32, n int32) int32 { return and(of(p), p, n) }

// OrInt32 is atomic.OrInt32.
//
//go:norace
func OrInt32(p *int32, n int32) int32 { return or(of(p), p, n) }

// LoadInt64 is atomic.LoadInt64.
//
//go:norace
func LoadInt64(p *int64) int64 { return load(of(p), p) }

// StoreInt64 is atomic.StoreInt64.
//
//go:norace
func StoreInt64(p *int64, n int64) { store(of(p), p, n) }

// SwapInt64 is atomic.SwapInt64.
//
//go:norace
func SwapInt64(p *int64, n int64) int64 { return swap(of(p), p, n) }

// CompareAndSwapInt64 is atomic.CompareAndSwapInt64.
//
//go:norace
func CompareAndSwapInt64(p *int64, old, n int64) bool { return compareAndSwap(of(p), p, old, n) }

// AddInt64 is atomic.AddInt64.
//
//go:norace
func AddInt64(p *int64, n int64) int64 { return add(of(p), p, n) }

// AndInt64 is atomic.AndInt64.
//
//go:norace
func AndInt64(p *int64, n int64) int64 { return and(of(p), p, n) }

// OrInt64 is atomic.OrInt64.
//
//go:norace
func OrInt64(p *int64, n int64) int64 { return or(of(p), p, n) }

// LoadUint32 is atomic.LoadUint32.
//
//go:norace
func LoadUint32(p *uint32) uint32 { return load(of(p), p) }

// StoreUint32 is atomic.StoreUint32.
//
//go:norace
func StoreUint32(p *uint32, n uint32) { store(of(p), p, n) }

// SwapUint32 is atomic.SwapUint32.
//
//go:norace
func SwapUint32(p *uint32, n uint32) uint32 { return swap(of(p), p, n) }

// CompareAndSwapUint32 is atomic.CompareAndSwapUint32.
//
//go:norace
func CompareAndSwapUint32(p *uint32, old, n uint32) bool { return compareAndSwap(of(p), p, old, n) }

// AddUint32 is atomic.AddUint32.
//
//go:norace
func AddUint32(p *uint32, n uint32) uint32 { return add(of(p), p, n) }

// AndUint32 is atomic.AndUint32.
//
//go:norace
func AndUint32(p *uint32, n uint32) uint32 { return and(of(p), p, n) }

// OrUint32 is atomic.OrUint32.
//
//go:norace
func OrUint32(p *uint32, n uint32) uint32 { return or(of(p), p, n) }

// LoadUint64 is atomic.LoadUint64.
//
//go:norace
func LoadUint64(p *uint64) uint64 { return load(of(p), p) }

// StoreUint64 is atomic.StoreUint64.
//
//go:norace
func StoreUint64(p *uint64, n uint64) { store(of(p), p, n) }

// SwapUint64 is atomic.SwapUint64.
//
//go:norace
func SwapUint64(p *uint64, n uint64) uint64 { return swap(of(p), p, n) }

// CompareAndSwapUint64 is atomic.CompareAndSwapUint64.
//
//go:norace
func CompareAndSwapUint64(p *uint64, old, n uint64) bool { return compareAndSwap(of(p), p, old, n) }

// AddUint64 is atomic.AddUint64.
//
//go:norace
func AddUint64(p *uint64, n uint64) uint64 { return add(of(p), p, n) }

// AndUint64 is atomic.AndUint64.
//
//go:norace
func AndUint64(p *uint64, n uint64) uint64 { return and(of(p), p, n) }

// OrUint64 is atomic.OrUint64.
//
//go:norace
func OrUint64(p *uint64, n uint64) uint64 { return or(of(p), p, n) }

// LoadUintptr is atomic.LoadUintptr.
//
//go:norace
func LoadUintptr(p *uintptr) uintptr { return load(of(p), p) }

// StoreUintptr is atomic.StoreUintptr.
//
//go:norace
func StoreUintptr(p *uintptr, n uintptr) { store(of(p), p, n) }

// SwapUintptr is atomic.SwapUintptr.
//
//go:norace
func SwapUintptr(p *uintptr, n uintptr) uintptr { return swap(of(p), p, n) }

// CompareAndSwapUintptr is atomic.CompareAndSwapUintptr.
//
//go:norace
func CompareAndSwapUintptr(p *uintptr, old, n uintptr) bool { return compareAndSwap(of(p), p, old, n) }

// AddUintptr is atomic.AddUintptr.
//
//go:norace
func AddUintptr(p *uintptr, n uintptr) uintptr { return add(of(p), p, n) }

// AndUintptr is atomic.AndUintptr.
//
//go:norace
func AndUintptr(p *uintptr, n uintptr) uintptr { return and(of(p), p, n) }

// OrUintptr is atomic.OrUintptr.
//
//go:norace
func OrUintptr(p *uintptr, n uintptr) uintptr { return or(of(p), p, n) }

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
