package det

// Obj is what a synchronisation operation is about. Its zero value is ready.
type Obj struct {
	run    uint32
	writes uint64 // hash of the last event that changed it
	reads  uint64 // sum of the hashes of the reads since: they commute
}

// Op is a kind of synchronisation operation.
type Op uint8

// The operations. Those from OpLoad to OpWaited do not change their object.
const (
	OpGo Op = iota
	OpLoad
	OpNow
	OpWaited
	OpStore
	OpSwap
	OpAdd
	OpCAS
	OpLock
	OpTryLock
	OpUnlock
	OpRLock
	OpRUnlock
	OpSend
	OpRecv
	OpClose
	OpSelect
	OpLen
	OpMap
	OpOnce
	OpWait
	OpDone
	OpSignal
	OpYield
	OpSleep
	OpTimer
	OpTick
	OpCancel
	OpPool
	OpExit
)

var opNames = [...]string{
	"go", "load", "now", "blocked", "store", "swap", "add", "cas", "lock", "trylock", "unlock", "rlock", "runlock",
	"send", "receive", "close", "select", "len", "map", "once", "wait", "done", "signal", "yield", "sleep", "timer",
	"clock", "cancel", "pool", "exit",
}

func (op Op) String() string { return opNames[op] }

//go:norace
func mix(a, b uint64) uint64 {
	a ^= b + 0x9e3779b97f4a7c15 + a<<6 + a>>2
	a *= 0xff51afd7ed558ccd
	return a ^ a>>33
}

// Enter is the scheduling point before an operation on o. It is followed, without
// another point, by the operation itself and by Did.
//
//go:norace
func Enter(o *Obj, op Op) {
	s := current
	if s == nil {
		return
	}
	if s.abort {
		s.checkAbort()
	}
	g := s.cur
	g.pendObj, g.pendOp, g.pendWrite = o, op, op > OpWaited
	if s.opt.Trace {
		g.site = callerOutside()
	}
	s.pass(g)
}

// Did records the operation: whether it changed o, or only looked.
//
//go:norace
func Did(o *Obj, op Op, write bool, value int64) {
	if s := current; s != nil && !s.abort {
		s.did(s.cur, o, op, write, value)
	}
}

//go:norace
func (s *Sched) did(g *gor, o *Obj, op Op, write bool, value int64) {
	if o.run != runs {
		*o = Obj{run: runs}
	}
	h := mix(mix(g.hash, uint64(op)), o.writes)
	if write {
		h = mix(h, o.reads)
		o.writes, o.reads = h, 0
	} else {
		o.reads += h
	}
	g.hash = h
	s.r.Class += h
	s.r.Events++
	if s.opt.Trace {
		s.traceEvent(g, o, op, write, value)
	}
}

// Block parks the caller until Wake of one of the objects. The operation that could
// not go on is recorded as a look at the first of them.
//
//go:norace
func Block(op Op, waits ...*Obj) {
	s := current
	if s == nil {
		panic("det: " + op.String() + " would block for ever: no run is in progress")
	}
	if s.abort {
		s.checkAbort()
	}
	g := s.cur
	if len(waits) > maxWaits {
		panic("det: a select of too many cases")
	}
	g.nwaits = 0
	for _, o := range waits {
		g.waits[g.nwaits] = o
		g.nwaits++
	}
	for _, o := range waits {
		s.did(g, o, OpWaited, false, int64(op))
	}
	g.pendOp = op
	g.pendObj, g.pendWrite = nil, true
	if len(waits) > 0 {
		g.pendObj = waits[0]
	}
	g.status = blocked
	s.asWas = false
	s.progress++
	s.pass(g)
}

// Wake lets those who are blocked on o try again.
//
//go:norace
func Wake(o *Obj) {
	s := current
	if s == nil || s.abort {
		return
	}
	for _, g := range s.live {
		if g.status != blocked {
			continue
		}
		for i := 0; i < g.nwaits; i++ {
			if g.waits[i] == o {
				g.status = runnable
				s.asWas = false
				s.progress++
				break
			}
		}
	}
}

// Yield gives way: the caller goes on when another has taken a step, or at once if
// no other can.
//
//go:norace
func Yield() {
	s := current
	if s == nil {
		return
	}
	if s.abort {
		s.checkAbort()
	}
	g := s.cur
	if s.opt.Trace {
		g.site = callerOutside()
	}
	g.pendObj, g.pendOp, g.pendWrite = nil, OpYield, false
	g.yielded = true
	s.yields++
	s.asWas = false
	s.pass(g)
	if g.yielded { // nobody else could
		g.yielded = false
		s.yields--
	}
}

// Random returns a number that depends on what the calling goroutine has seen.
//
//go:norace
func Random() uint64 {
	s := current
	if s == nil {
		return 0
	}
	g := s.cur
	g.hash = mix(g.hash, 'r')
	return mix(g.hash, 0x9e3779b97f4a7c15)
}
