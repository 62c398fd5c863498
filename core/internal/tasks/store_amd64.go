//go:build amd64 && gc && !purego && !race && !interleave

package tasks

import "sync/atomic"

// store stores v, so that a goroutine that loads it also sees every earlier write of the caller.
//
// If ordered, it is the Store method: on amd64 a locked instruction (XCHG), which waits until all earlier
// writes have reached the cache. Otherwise it is a plain MOV, which is a release store, because amd64
// keeps the order of writes. It does not keep a later load behind this store, of the caller or of a task that
// the caller runs next: see Queue.Ordered. Do not write *p = v in Go instead: the compiler may delay
// that.
//
//go:noescape
func store(p *atomic.Uint64, v uint64, ordered bool)
