package sync

import detsync "eventide/props/lanes/interleave/det/sync"

// What a harness waits with is scheduled as everything is.
type (
	Cond    = detsync.Cond
	Once    = detsync.Once
	RWMutex = detsync.RWMutex
	Map     = detsync.Map
	Pool    = detsync.Pool
	Locker  = detsync.Locker
)

// NewCond is sync.NewCond.
func NewCond(l Locker) *Cond { return detsync.NewCond(l) }
