package model

// Bounds says which actions [Enabled] and [Explore] consider, and how many.
//
// A call is one step, so two states that differ only in which producer called
// are the same state, and numbers are given in the order of the calls: Producers
// x Tasks calls in any merged order are Producers*Tasks numbered submissions.
// And the ledger is kept sort by sort, so it forgets whether a task or a hook was
// submitted first, which no rule and no invariant asks. Both reductions lose
// nothing; there are no others.
type Bounds struct {
	Config
	Producers, Tasks int // submissions: Producers*Tasks
	Tails            int // tail tasks beside them
	Timers, Periodic int // one-shot and periodic timers
	Hooks            int
	FDs, Channels    int  // registrations: plain ones and channels
	Quiet, Timeout   bool // ShutdownGracefully also with quiet > 0 and timeout > 0
	Graceful         bool // ShutdownGracefully is called
	Shutdown         bool // Shutdown is called
	InBody           bool // calls also come from inside bodies
	Lazy             bool // ExecuteLazy as well as Execute
	Panics           bool // bodies also panic and call Goexit
	Cancel           bool // futures and timers are cancelled, hooks removed
	StartFailures    bool // the spawner may refuse
	LoopFailure      bool // the loop may break
	Lost             bool // the poller may lose a registration
	Observe          bool // State() is called
}

// DefaultBounds is what the explorer checks unless told otherwise: 2 producers
// with 2 tasks each, a timer, 2 hooks, a quiet period, a timeout and both
// shutdown calls.
func DefaultBounds() Bounds {
	return Bounds{
		Producers: 2, Tasks: 2, Timers: 1, Hooks: 2,
		Quiet: true, Timeout: true, Graceful: true, Shutdown: true,
		InBody: true,
	}
}

// ChannelBounds is what the explorer checks of registrations: one that is plain
// and one channel, beside a task, with every way to shut down and to
// lose them. The product with [DefaultBounds] would say nothing more about
// either: what a registration asks of the rest is whether a body runs, and which
// phase it is.
func ChannelBounds(p DrainPolicy) Bounds {
	return Bounds{
		Config: Config{Drain: p}, Producers: 1, Tasks: 1, FDs: 1, Channels: 1,
		Quiet: true, Timeout: true, Graceful: true, Shutdown: true,
		InBody: true, LoopFailure: true, Lost: true,
	}
}

// room is how many bodies of a sort may be submitted.
func (b *Bounds) room(k Op) int {
	switch k {
	case TaskBody:
		return b.Producers * b.Tasks
	case TailBody:
		return b.Tails
	case TimerBody:
		return b.Timers + b.Periodic
	case FDBody:
		return b.FDs
	case ChannelBody:
		return b.Channels
	}
	return b.Hooks
}
