package history

import "time"

// Rules describes the events in the log and the configuration of the executor. The zero
// value is right for an executor in real time whose log has only calls and bodies.
type Rules struct {
	Parts      Parts         // kinds of information in the log, and promises of the executor
	Virtual    bool          // times are exact and only bodies take time (a testing/synctest bubble)
	AtRest     bool          // the log ends when no goroutine can continue, or when the harness stopped waiting
	Slack      time.Duration // without Virtual: lateness that is not a violation
	Late       time.Duration // without Virtual: how late work begins at most; 0: nobody knows
	IdleTurns  int           // in a row; 0: DefaultIdleTurns
	QueueBound int           // capacity of the queue as configured; 0: unbounded; see Capacity
	Batch      int           // tasks that the loop may run in one turn; 0: DefaultBatch
	Timers     TimerPolicy   // what a shutdown does with waiting timers
	Jitter     time.Duration // each deadline is later by half of this, or by half of the period of a fixed rate if that is less
	Drain      DrainPolicy   // what a shutdown does with open channels
	Spawner    bool          // the spawner may refuse, so a failed start is a legal refusal
	Overlap    bool          // bodies may overlap, as in a pool: G2 is not promised
	Breaks     bool          // the poller may fail for good, and then the executor closes by itself (G15)
	_          struct{}
}

// DefaultBatch is the bound of a batch: 64 tasks, as in Netty (R51).
const DefaultBatch = 64

// minQueue is the least capacity of a bounded queue (G19, R29).
const minQueue = 16

// Parts is a set of optional parts of a log, beyond calls and bodies, and of optional
// promises.
type Parts uint16

// The parts.
const (
	States      Parts = 1 << iota // Transit events, each at the moment of the change
	LoopKnown                     // InLoop of Begin, End and Observe is the answer of InEventLoop
	OneLoop                       // one goroutine runs all bodies until Goexit ends it
	Parks                         // Park, Unpark, Wake, Closed
	Samples                       // Sample events
	Completions                   // Complete events of futures
	TimerEnds                     // Complete events of timers
	Deadlines                     // the executor promises G11, a deadline for admission
	QuietPeriod                   // the executor promises G10
	Readiness                     // Readied events
)

// All is the set of a log of Eventide's core.
const All = States | LoopKnown | OneLoop | Parks | Samples | Completions | TimerEnds | Deadlines | QuietPeriod | Readiness

// Has reports whether the log shows all the parts.
func (r Rules) Has(p Parts) bool { return r.Parts&p == p }

// Capacity returns how many tasks that have not begun the queue can hold; 0 means no
// bound.
func (r Rules) Capacity() int {
	if r.QueueBound == 0 {
		return 0
	}
	return max(minQueue, r.QueueBound)
}

func (r Rules) idleTurns() int {
	if r.IdleTurns == 0 {
		return DefaultIdleTurns
	}
	return r.IdleTurns
}

// lateness returns how late work may begin. ok is false if that is not judged.
func (r Rules) lateness() (late time.Duration, ok bool) { return r.Late, r.Virtual || r.Late > 0 }

func (r Rules) batch() int {
	if r.Batch == 0 {
		return DefaultBatch
	}
	return r.Batch
}
