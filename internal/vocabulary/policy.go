package vocabulary

// TimerPolicy says what a shutdown does with timers.
type TimerPolicy int

const (
	// CancelTimers: from the shutdown call on no timer's body begins. Each timer ends
	// with ErrCancelled as soon as the loop has finished the current body. A timer
	// that is scheduled later is accepted and ends in the same way at once.
	CancelTimers TimerPolicy = iota

	// RunDueTimers: timers that are due at the shutdown call run. A late fixed-rate
	// timer runs once for each run that was due, back to back, until admission
	// ends. All other timers are cancelled.
	RunDueTimers

	// RunTimersUntilTimeout: timers that are due before the timeout run at their time,
	// periodic timers again and again, and the quiet period does not end while one
	// is pending. Shutdown runs the timers that are due, as RunDueTimers does, and
	// cancels the rest.
	RunTimersUntilTimeout

	// AnyTimers promises nothing about timers. It serves only to check an executor
	// under test; package core refuses it as an option.
	AnyTimers
)

var timerPolicyWords = []string{"CancelTimers", "RunDueTimers", "RunTimersUntilTimeout", "AnyTimers"}

// String returns the constant's name, such as "RunDueTimers".
func (p TimerPolicy) String() string { return word(p) }

// MarshalText implements encoding.TextMarshaler.
func (p TimerPolicy) MarshalText() ([]byte, error) { return marshal(p) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *TimerPolicy) UnmarshalText(text []byte) error { return unmarshal(p, text) }

// DrainPolicy says what a shutdown does with open channels.
type DrainPolicy int

const (
	// DrainChannels: ShutdownGracefully drains each channel, which keeps the quiet
	// period from ending, and aborts at its deadline the channels that are left.
	// Shutdown aborts all of them.
	DrainChannels DrainPolicy = iota

	// CloseChannels: every channel is aborted at the shutdown call, even if it has
	// data that is not flushed (as in Netty, R199).
	CloseChannels
)

var drainPolicyWords = []string{"DrainChannels", "CloseChannels"}

// String returns the constant's name, such as "CloseChannels".
func (p DrainPolicy) String() string { return word(p) }

// MarshalText implements encoding.TextMarshaler.
func (p DrainPolicy) MarshalText() ([]byte, error) { return marshal(p) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *DrainPolicy) UnmarshalText(text []byte) error { return unmarshal(p, text) }
