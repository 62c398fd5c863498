package history

import "time"

// Rules tells the predicates what the log can show and what the executor
// under judgement was configured to do. The zero value suits any executor of
// which only calls and bodies are seen, in real time.
type Rules struct {
	Parts      Parts         // what the executor writes or the harness could see
	Virtual    bool          // times are exact and only bodies take time (a testing/synctest bubble)
	AtRest     bool          // the log ends where nothing can happen any more, or the harness gave up waiting
	Slack      time.Duration // without Virtual: lateness that is not held against anybody
	QueueBound int           // room in the queue, 0 none; max(16, n) is what counts
	Batch      int           // tasks the loop may run before it looks elsewhere; 0 means DefaultBatch
	Timers     TimerPolicy   // what a shutdown does with waiting timers
	Drain      DrainPolicy   // what a shutdown does with open channels
	Spawner    bool          // the spawner may refuse: a start that fails is an honest refusal
	Breaks     bool          // the poller may fail for good: the executor then closes by itself (G15)
	_          struct{}
}

// DefaultBatch is the bound of a batch, 64 tasks as in Netty (R51).
const DefaultBatch = 64

// minQueue is the least room a bounded queue has (G19, R29).
const minQueue = 16

// Parts is a set of the things a log can show beyond calls and bodies.
type Parts uint16

// The parts.
const (
	States      Parts = 1 << iota // Transit events, each where it happens
	LoopKnown                     // InLoop of Begin, End and Observe is what InEventLoop said
	OneLoop                       // one goroutine runs all bodies, until Goexit takes it
	Parks                         // Park, Unpark, Wake, Closed
	Samples                       // Sample events
	Completions                   // Complete events of futures
	TimerEnds                     // Complete events of timers
	Deadlines                     // the executor promises G11, a deadline for admission
	QuietPeriod                   // the executor promises G10
	Readiness                     // Readied events
)

// All is what Eventide's core shows.
const All = States | LoopKnown | OneLoop | Parks | Samples | Completions | TimerEnds | Deadlines | QuietPeriod | Readiness

// Has reports whether the log shows all the parts.
func (r Rules) Has(p Parts) bool { return r.Parts&p == p }

// Room is how many accepted tasks that have not begun fit in the queue; 0
// means no bound.
func (r Rules) Room() int {
	if r.QueueBound == 0 {
		return 0
	}
	return max(minQueue, r.QueueBound)
}

func (r Rules) batch() int {
	if r.Batch == 0 {
		return DefaultBatch
	}
	return r.Batch
}
