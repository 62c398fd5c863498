package tcp

import (
	"sync/atomic"

	"eventide/core"
)

// loopShared is the state that the channels of one loop share.
type loopShared struct {
	pool chunkPool // has a lock of its own

	// Loop only.
	scratch []byte // the read buffer; its content is valid during one call of Handler.Read
	vector  vector // for gathering writes
	noInput bool   // Quiesce was called: no handler gets more input
	aborted int64  // channels that logFailure counted as aborted by a shutdown

	// Atomic.
	refused atomic.Int64 // writes that logRefused counted as refused by a shutdown
}

var sharedOfLoop = core.NewLocal(func() *loopShared { return new(loopShared) })

// shared returns the state of the calling loop. Loop only: Get fails for all others.
func shared() *loopShared {
	s, _ := sharedOfLoop.Get()
	return s
}

// buffer returns the first size bytes of the scratch buffer.
func (s *loopShared) buffer(size int) []byte {
	if len(s.scratch) < size {
		s.scratch = make([]byte, size)
	}
	return s.scratch[:size]
}

// registerNoDescriptor registers ch, which has no descriptor. Without an interest the poller watches none, so the number 0
// is unused.
func registerNoDescriptor(loop *core.EventLoop, ch core.Channel) (*core.Registration, error) {
	return loop.RegisterChannel(0, 0, ch)
}
