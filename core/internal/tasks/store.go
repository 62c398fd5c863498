//go:build !amd64 || !gc || race || interleave

package tasks

import "sync/atomic"

// store stores v, so that a goroutine that loads it also sees every earlier write of the caller.
func store(p *atomic.Uint64, v uint64, _ bool) { p.Store(v) }
