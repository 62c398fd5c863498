package model

// Bounds limits the kinds and numbers of actions that [Enabled] and [Explore] consider.
//
// Two reductions keep the number of states small without hiding a violation. First, a call
// is one step, and the model does not record its producer. However the calls of several
// producers interleave, the model sees one sequence of submissions. So it explores only the
// sequence of Producers*Tasks submissions, numbered in order.
//
// Second, the ledger is ordered by kind, so it does not record whether a task or a hook
// was submitted first; no rule or invariant depends on this order.
type Bounds struct {
	Config
	Producers, Tasks int // submissions: Producers*Tasks
	Tails            int // tail tasks in addition
	Timers, Periodic int // one-shot and periodic timers
	Hooks            int
	FDs, Channels    int  // registrations: plain ones and channels
	Timeout          bool // ShutdownGracefully also with timeout > 0
	Quiet            bool // ShutdownGracefully also with quiet > 0, which needs a timeout > 0
	Graceful         bool // ShutdownGracefully is called
	Shutdown         bool // Shutdown is called
	InBody           bool // calls are also made inside bodies
	Lazy             bool // ExecuteLazy as well as Execute
	Panics           bool // bodies also panic and call Goexit
	Cancel           bool // futures and timers are cancelled, timers moved, hooks removed
	StartFailures    bool // the spawner may refuse
	LoopFailure      bool // the loop may break
	Lost             bool // the poller may lose a registration
	Observe          bool // State() is called
}

// DefaultBounds returns the bounds of an exploration without options: 2 producers with
// 2 tasks each, a timer, 2 hooks, a quiet period, a timeout and both shutdown calls.
func DefaultBounds() Bounds {
	return Bounds{
		Producers: 2, Tasks: 2, Timers: 1, Hooks: 2,
		Quiet: true, Timeout: true, Graceful: true, Shutdown: true,
		InBody: true,
	}
}

// ChannelBounds returns the bounds for registrations: a plain registration, a channel
// and a task, with every way to shut down and to lose a registration. An exploration of both
// ChannelBounds and [DefaultBounds] at once would find no further violation: the rules for
// registrations depend only on the registration, the phase, the parameters of the shutdown, and
// on whether a body runs.
func ChannelBounds(p DrainPolicy) Bounds {
	return Bounds{
		Config: Config{Drain: p}, Producers: 1, Tasks: 1, FDs: 1, Channels: 1,
		Quiet: true, Timeout: true, Graceful: true, Shutdown: true,
		InBody: true, LoopFailure: true, Lost: true,
	}
}

// most returns how many bodies of a kind may be submitted.
func (b *Bounds) most(k Op) int {
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
