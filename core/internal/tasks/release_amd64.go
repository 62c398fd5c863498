//go:build amd64 && !purego && !race && !interleave

package tasks

import "sync/atomic"

// storeRelease stores v, so that a goroutine that loads it also sees every earlier write of the caller.
//
// The Store method would be a locked instruction on amd64 (XCHG), which waits until all earlier writes have
// reached the cache. A plain MOV releases too, because amd64 keeps the order of writes. It does not keep a
// later load of the caller behind this store: no decision may depend on the two together. Do not write
// *p = v in Go instead: the compiler may then delay the store.
//
//go:noescape
func storeRelease(p *atomic.Uint64, v uint64)
