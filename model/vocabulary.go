package model

import "eventide/internal/vocabulary"

// The vocabulary of package vocabulary, as far as the model needs it.
type (
	Phase       = vocabulary.State // the state that an executor shows to its users
	Op          = vocabulary.Op
	Outcome     = vocabulary.Outcome
	TimerPolicy = vocabulary.TimerPolicy
	DrainPolicy = vocabulary.DrainPolicy
)

// The phases, in order: s.Phase >= Shutdown means Shutdown or later.
const (
	NotStarted   = vocabulary.NotStarted
	Started      = vocabulary.Started
	ShuttingDown = vocabulary.ShuttingDown
	Shutdown     = vocabulary.Shutdown
	Terminated   = vocabulary.Terminated
)

// The calls that the model knows. Calls that differ only in form, such as Execute and
// Submit, share one Op.
const (
	OpExecute            = vocabulary.OpExecute        // Submit too
	OpExecuteLazy        = vocabulary.OpExecuteLazy    // as OpExecute, without a wake-up
	OpAfterIteration     = vocabulary.OpAfterIteration // ExecuteAfterIteration
	OpSchedule           = vocabulary.OpSchedule       // every Schedule call; see Action.Periodic
	OpCancel             = vocabulary.OpCancel         // of a future or timer: True or False
	OpReset              = vocabulary.OpReset          // of a timer: True or False; the model has no clock, so it changes nothing
	OpAddHook            = vocabulary.OpAddHook
	OpRemoveHook         = vocabulary.OpRemoveHook         // True or False
	OpShutdownGracefully = vocabulary.OpShutdownGracefully // Quiet and Timeout say whether each parameter is > 0
	OpShutdown           = vocabulary.OpShutdown
	OpState              = vocabulary.OpState    // State() returned Phase
	OpRegister           = vocabulary.OpRegister // or RegisterChannel, as Body says
	OpEnd                = vocabulary.OpEnd      // Close of a registration; End of a channel
)

// The kinds of submitted bodies, named after the call that submits them.
const (
	NoBody      Op = 0
	TaskBody       = vocabulary.OpExecute // ExecuteLazy and Submit too
	TailBody       = vocabulary.OpAfterIteration
	TimerBody      = vocabulary.OpSchedule // every Schedule call
	HookBody       = vocabulary.OpAddHook
	FDBody         = vocabulary.OpRegister        // begins each time the descriptor is ready
	ChannelBody    = vocabulary.OpRegisterChannel // likewise, and when the channel is drained or aborted
)

// Part says which function of a registration begins.
type Part = vocabulary.Body

// The parts.
const (
	Ready Part = vocabulary.NoBody // the handler of readiness
	Drain      = vocabulary.BodyDrain
	Abort      = vocabulary.BodyAbort
)

// The outcomes.
const (
	Accepted           = vocabulary.Accepted
	RefusedClosed      = vocabulary.RefusedClosed
	RefusedQueueFull   = vocabulary.RefusedQueueFull
	RefusedStartFailed = vocabulary.RefusedStartFailed
	RefusedStarting    = vocabulary.RefusedStarting
	True               = vocabulary.True
	False              = vocabulary.False
	Normal             = vocabulary.Normal
	Panicked           = vocabulary.Panicked
	Exited             = vocabulary.Exited
)

// The policies of a shutdown.
const (
	CancelTimers          = vocabulary.CancelTimers
	RunDueTimers          = vocabulary.RunDueTimers
	RunTimersUntilTimeout = vocabulary.RunTimersUntilTimeout
	DrainChannels         = vocabulary.DrainChannels
	CloseChannels         = vocabulary.CloseChannels
)
