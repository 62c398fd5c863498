package history

import "eventide/internal/vocabulary"

// The vocabulary of package vocabulary under the names that subjects and programs use.
type (
	State       = vocabulary.State
	Op          = vocabulary.Op
	Body        = vocabulary.Body
	Outcome     = vocabulary.Outcome
	Cause       = vocabulary.Cause
	TimerPolicy = vocabulary.TimerPolicy
	DrainPolicy = vocabulary.DrainPolicy
)

// The states.
const (
	NotStarted   = vocabulary.NotStarted
	Started      = vocabulary.Started
	ShuttingDown = vocabulary.ShuttingDown
	Shutdown     = vocabulary.Shutdown
	Terminated   = vocabulary.Terminated
)

// The calls.
const (
	OpExecute            = vocabulary.OpExecute
	OpExecuteLazy        = vocabulary.OpExecuteLazy
	OpSubmit             = vocabulary.OpSubmit
	OpAfterIteration     = vocabulary.OpAfterIteration
	OpSchedule           = vocabulary.OpSchedule
	OpFixedRate          = vocabulary.OpFixedRate
	OpFixedDelay         = vocabulary.OpFixedDelay
	OpAddHook            = vocabulary.OpAddHook
	OpRemoveHook         = vocabulary.OpRemoveHook
	OpCancel             = vocabulary.OpCancel
	OpReset              = vocabulary.OpReset
	OpShutdownGracefully = vocabulary.OpShutdownGracefully
	OpShutdown           = vocabulary.OpShutdown
	OpClose              = vocabulary.OpClose
	OpAwait              = vocabulary.OpAwait
	OpState              = vocabulary.OpState
	OpDone               = vocabulary.OpDone
	OpInLoop             = vocabulary.OpInLoop
	OpStats              = vocabulary.OpStats
	OpRegister           = vocabulary.OpRegister
	OpRegisterChannel    = vocabulary.OpRegisterChannel
	OpModify             = vocabulary.OpModify
	OpEnd                = vocabulary.OpEnd
	OpListen             = vocabulary.OpListen
)

// The bodies.
const (
	BodyTask      = vocabulary.BodyTask
	BodyTail      = vocabulary.BodyTail
	BodyTimer     = vocabulary.BodyTimer
	BodyHook      = vocabulary.BodyHook
	BodyListener  = vocabulary.BodyListener
	BodyReadiness = vocabulary.BodyReadiness
	BodyDrain     = vocabulary.BodyDrain
	BodyAbort     = vocabulary.BodyAbort
)

// The outcomes.
const (
	Accepted           = vocabulary.Accepted
	Refused            = vocabulary.Refused
	RefusedClosed      = vocabulary.RefusedClosed
	RefusedQueueFull   = vocabulary.RefusedQueueFull
	RefusedStartFailed = vocabulary.RefusedStartFailed
	RefusedStarting    = vocabulary.RefusedStarting
	RefusedInLoop      = vocabulary.RefusedInLoop
	RefusedBadArgument = vocabulary.RefusedBadArgument
	True               = vocabulary.True
	False              = vocabulary.False
	Returned           = vocabulary.Returned
	Expired            = vocabulary.Expired
	Normal             = vocabulary.Normal
	Errored            = vocabulary.Errored
	Panicked           = vocabulary.Panicked
	Exited             = vocabulary.Exited
	Cancelled          = vocabulary.Cancelled
	RefusedByPoller    = vocabulary.RefusedByPoller
	Drained            = vocabulary.Drained
	Aborted            = vocabulary.Aborted
)

// The causes.
const (
	CauseShutdown   = vocabulary.CauseShutdown
	CauseTimeout    = vocabulary.CauseTimeout
	CauseReused     = vocabulary.CauseReused
	CausePoller     = vocabulary.CausePoller
	CauseOtherError = vocabulary.CauseOtherError
)

// The policies of a shutdown.
const (
	CancelTimers          = vocabulary.CancelTimers
	RunDueTimers          = vocabulary.RunDueTimers
	RunTimersUntilTimeout = vocabulary.RunTimersUntilTimeout
	AnyTimers             = vocabulary.AnyTimers
	DrainChannels         = vocabulary.DrainChannels
	CloseChannels         = vocabulary.CloseChannels
)
