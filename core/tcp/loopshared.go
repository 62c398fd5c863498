package tcp

import "eventide/core"

// loopShared is what the channels of one loop share.
type loopShared struct {
	pool chunkPool // has a lock of its own

	// Loop only.
	scratch []byte // for reads; its content is valid during one call of a handler
	vector  vector // for gathering writes
	noInput bool   // Quiesce was called: no handler gets a Read any more
	aborted int64  // channels of which logFailure had to say that a shutdown aborted them
}

var sharedOfLoop = core.NewLocal(func() *loopShared { return new(loopShared) })

// buffer returns the first size bytes of the scratch buffer.
func (s *loopShared) buffer(size int) []byte {
	if len(s.scratch) < size {
		s.scratch = make([]byte, size)
	}
	return s.scratch[:size]
}
