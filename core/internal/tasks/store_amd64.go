//go:build gc && !race && !interleave

package tasks

import (
	"sync/atomic"
	"unsafe"
)

// store stores v, so that a goroutine that loads it also sees every earlier write of the caller. The
// caller must call a function that the compiler does not know, such as a task, between two stores.
//
// If ordered, it is the Store method: on amd64 a locked instruction (XCHG), which waits until all earlier
// writes have reached the cache. Otherwise it is a plain MOV, which is a release store, because amd64
// keeps the order of writes. It does not keep a later load behind this store, of the caller or of a task that
// the caller runs next: see Queue.Ordered.
//
// The plain store is a data race with the atomic loads, so it needs an argument. The word is aligned, so
// no load sees half of it. The compiler moves no write over a call of an unknown function in either direction,
// because the function may synchronise (The Go Memory Model, Incorrect compilation): so the store is where it
// stands between two tasks. The race detector, chosen schedules, other compilers and other
// processors have the method. Two instructions of assembly would need no argument, but their call costs a
// tenth of a backlog's time: the caller has to save its registers.
func store(p *atomic.Uint64, v uint64, ordered bool) {
	if ordered {
		p.Store(v)
		return
	}
	*(*uint64)(unsafe.Pointer(p)) = v
}
