// Package contract has the guarantees of Eventide, one sentence each. Everything that
// states a guarantee takes the sentence from here, or is compared with it by a test:
// the documentation of package core, the README, the docs, the conformance kit, the
// verify command and RESULTS.md.
//
// In the sentences, a task is a function given to Execute, Submit or a call like them;
// a body is any function of the user that the loop runs: a task, a timer, a hook, a
// handler. Accepted means that the call returned no error. Admission closes once; from
// then on every task is refused. Done is the channel of the executor's Termination. A quiet
// period does not end while a channel is open, or while a timer waits that the policy of the
// timers (core.WithTimersAtShutdown) lets run; of the handlers only one that runs at the
// shutdown call restarts the quiet period. ErrStarting is the error of a call in the
// executor's own spawner that would wait for the start of the executor.
package contract

// Guarantee is one promise to the user.
type Guarantee struct {
	ID       string // "G3": doc comments, tests and failure messages use it
	Sentence string // without the period at its end
}

// Guarantees is the contract, in order. docs/layout.md lists the other places that a new
// guarantee needs.
var Guarantees = []Guarantee{
	{"G1", "The state of an executor only moves forward"},
	{"G2", "Bodies never overlap, each sees the effects of the one before; InEventLoop is true only on their goroutine"},
	{"G3", "An accepted task runs exactly once before Done closes; a refused task never runs"},
	{"G4", "If Execute(a) returns before Execute(b) is called, a begins before b"},
	{"G5", "A task is refused after admission has closed, or for a full queue, a failed start or ErrStarting; else never"},
	{"G6", "Every hook that is not removed runs exactly once, in order, and later tasks do not delay it"},
	{"G7", "Timers never run early; they run in deadline order, and equal deadlines in the order scheduled"},
	{"G8", "After Cancel returns true the body does not begin; a one-shot timer either ran or was cancelled"},
	{"G9", "Every future of accepted work is complete when Done closes, and each listener runs exactly once"},
	{"G10", "Admission closes exactly one quiet period after the later of shutdown call and last task, timer or hook"},
	{"G11", "The timeout of a shutdown closes admission on time, even while a body runs"},
	{"G12", "No wake-up is lost; a sleep takes at most one, and the loop never wakes itself"},
	{"G13", "A task that resubmits itself delays timers, readiness, hooks and the close by a bounded batch at most"},
	{"G14", "A panic or runtime.Goexit ends one body and nothing else; a panic is reported once"},
	{"G15", "The state is Terminated if and only if Done is closed, and all cleanup is complete by then"},
	{"G16", "The first shutdown call sets quiet period and timeout; Shutdown shortens them, nothing lengthens them"},
	{"G17", "The loop starts at the first use; a failed start returns the spawner's error and keeps no task"},
	{"G18", "A call inside the loop that would wait for the loop returns ErrInEventLoop at once"},
	{"G19", "A queue bounded to n holds max(16, n) tasks that have not begun, and every refusal is an error"},
	{"G20", "Every snapshot satisfies accepted = ran + cancelled + pending"},
	{"G21", "A group ends after its last child, with the joined errors of its children, and Next is exactly fair"},
	{"G22", "A channel or registration closes exactly once, in a fixed order of events, and its owner is notified"},
	{"G23", "A shutdown drains each open channel or counts it as aborted; a drained channel has lost nothing"},
	{"G24", "Once Done is closed and its listeners have run, no goroutine, descriptor, timer or task remains"},
}

// Sentence returns the sentence of a guarantee; "" if there is none of that number.
func Sentence(id string) string {
	for _, g := range Guarantees {
		if g.ID == id {
			return g.Sentence
		}
	}
	return ""
}
