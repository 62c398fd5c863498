package vocabulary

// Op names a call on an executor. The zero value names none.
type Op uint8

// The calls. Submissions come first; see Op.Submits.
const (
	OpExecute Op = iota + 1
	OpExecuteLazy
	OpSubmit
	OpAfterIteration // ExecuteAfterIteration: a tail task
	OpSchedule
	OpFixedRate
	OpFixedDelay
	OpAddHook
	OpRemoveHook
	OpCancel // of a Submit's future or of a timer
	OpReset  // of a timer
	OpShutdownGracefully
	OpShutdown
	OpClose // ShutdownGracefully(0, default) and wait
	OpAwait // AwaitTermination, or any wait for Done through the executor
	OpState
	OpDone
	OpInLoop
	OpStats
	OpRegister        // Register: a plain descriptor
	OpRegisterChannel // RegisterChannel
	OpModify          // of a registration's interest
	OpEnd             // Close of a registration, or End of a channel
	OpListen          // OnDone of a future, OnClose of a registration

	// FirstStep is the first value that names no call. A package that also records steps
	// of an executor that are not calls numbers these steps from FirstStep on.
	FirstStep
)

var opWords = []string{
	OpExecute: "execute", OpExecuteLazy: "lazy", OpSubmit: "submit", OpAfterIteration: "tail",
	OpSchedule: "schedule", OpFixedRate: "rate", OpFixedDelay: "delay", OpAddHook: "hook", OpRemoveHook: "unhook",
	OpCancel: "cancel", OpReset: "reset", OpShutdownGracefully: "graceful", OpShutdown: "shutdown", OpClose: "close",
	OpAwait: "await", OpState: "state", OpDone: "done", OpInLoop: "inloop", OpStats: "stats",
	OpRegister: "register", OpRegisterChannel: "channel", OpModify: "modify", OpEnd: "end", OpListen: "onclose",
}

// Submits reports whether the call hands a body to the executor: a task, a timer, a
// hook or the handler of a registration. After the close these calls are refused.
func (o Op) Submits() bool { return o >= OpExecute && o <= OpAddHook || o.Registers() }

// Tasks reports whether the call hands over a task: Execute, ExecuteLazy, Submit and
// ExecuteAfterIteration do.
func (o Op) Tasks() bool { return o >= OpExecute && o <= OpAfterIteration }

// Timers reports whether the call creates a timer.
func (o Op) Timers() bool { return o >= OpSchedule && o <= OpFixedDelay }

// Registers reports whether the call registers a descriptor.
func (o Op) Registers() bool { return o == OpRegister || o == OpRegisterChannel }

// Shuts reports whether the call begins a shutdown.
func (o Op) Shuts() bool { return o >= OpShutdownGracefully && o <= OpClose }

// String returns the word for the call, such as "graceful".
func (o Op) String() string { return word(o) }

// MarshalText implements encoding.TextMarshaler.
func (o Op) MarshalText() ([]byte, error) { return marshal(o) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Op) UnmarshalText(text []byte) error { return unmarshal(o, text) }
