package history

import "fmt"

// The words of the text form. A word is written by String and read by Parse.
var (
	kindWords = [...]string{
		Invoke: "invoke", Admit: "admit", Return: "return", Begin: "begin", End: "end", Complete: "complete",
		Transit: "state", Park: "park", Unpark: "unpark", Wake: "wake", Closed: "closed", Done: "done",
		Sample: "stats", Observe: "observe", Ended: "ended", Readied: "ready", Fault: "fault", Sealed: "report",
	}
	opWords = [...]string{
		OpExecute: "execute", OpExecuteLazy: "lazy", OpSubmit: "submit", OpAfterIteration: "tail",
		OpSchedule: "schedule", OpFixedRate: "rate", OpFixedDelay: "delay", OpAddHook: "hook", OpRemoveHook: "unhook",
		OpCancel: "cancel", OpShutdownGracefully: "graceful", OpShutdown: "shutdown", OpClose: "close",
		OpAwait: "await", OpState: "state", OpDone: "done", OpInLoop: "inloop", OpStats: "stats",
		OpRegister: "register", OpRegisterChannel: "channel", OpModify: "modify", OpEnd: "end", OpListen: "onclose",
	}
	bodyWords = [...]string{
		BodyTask: "task", BodyTail: "tail", BodyTimer: "timer", BodyHook: "hook", BodyListener: "listener",
		BodyReadiness: "readiness", BodyDrain: "drain", BodyAbort: "abort",
	}
	outcomeWords = [...]string{
		Accepted: "accepted", Refused: "refused", RefusedClosed: "refused:closed", RefusedQueueFull: "refused:full",
		RefusedStartFailed: "refused:startfailed", RefusedStarting: "refused:starting", RefusedInLoop: "refused:inloop",
		RefusedBadArgument: "refused:badargument", True: "true", False: "false", Returned: "returned", Expired: "expired",
		Normal: "normal", Errored: "error", Panicked: "panicked", Exited: "exited", Cancelled: "cancelled",
		RefusedByPoller: "refused:poller", Drained: "drained", Aborted: "aborted",
	}
	partWords  = [...]string{"states", "loop", "oneloop", "parks", "stats", "completions", "timerends", "deadlines", "quiet", "readiness"}
	drainWords = [...]string{DrainChannels: "channels", CloseChannels: "close"}

	policyWords = [...]string{
		CancelTimers: "cancel", RunDueTimers: "rundue", RunTimersUntilTimeout: "untiltimeout", AnyTimers: "any",
	}
)

// String is the word of the text form.
func (k Kind) String() string { return word("kind", kindWords[:], int(k)) }

// String is the word of the text form.
func (o Op) String() string { return word("op", opWords[:], int(o)) }

// String is the word of the text form.
func (b Body) String() string { return word("body", bodyWords[:], int(b)) }

// String is the word of the text form.
func (o Outcome) String() string { return word("outcome", outcomeWords[:], int(o)) }

// String is the word of the text form.
func (p DrainPolicy) String() string { return word("drain", drainWords[:], int(p)) }

// String is the word of the text form.
func (p TimerPolicy) String() string { return word("policy", policyWords[:], int(p)) }

func word(what string, words []string, i int) string {
	if i < len(words) && words[i] != "" {
		return words[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}
