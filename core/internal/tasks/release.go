//go:build !amd64 || purego || race || interleave

package tasks

import "sync/atomic"

// storeRelease stores v, so that a goroutine that loads it also sees every earlier write of the caller.
func storeRelease(p *atomic.Uint64, v uint64) { p.Store(v) }
