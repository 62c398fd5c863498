// Package history records the events of an executor in one totally ordered log, and judges
// the log with small predicates, one per guarantee.
//
// Writers on any goroutine add events while the program runs; afterwards the
// log is indexed once and judged:
//
//	log := history.New(nil)
//	call := log.Add(history.Event{Kind: history.Invoke, Op: history.OpExecute, ID: 1})
//	err := ex.Execute(func() {
//		log.Add(history.Event{Kind: history.Begin, Body: history.BodyTask, ID: 1, InLoop: true})
//		defer log.Add(history.Event{Kind: history.End, Body: history.BodyTask, ID: 1, Outcome: history.Normal, InLoop: true})
//		work()
//	})
//	log.Add(history.Event{Kind: history.Return, Op: history.OpExecute, ID: 1, Call: call, Outcome: answer(err)})
//	...
//	h, err := history.Of(log.Events(), history.Rules{AtRest: true})
//	for _, v := range h.Check() {
//		if v.Status == history.Failed {
//			history.Report(os.Stdout, h, v.Violations[0], "go test -run ...")
//		}
//	}
//
// The package depends on no executor. The same predicates judge Eventide's core, a model,
// a trace written by hand (see Parse) and any other executor, as far as the log has the
// events that a predicate reads. A predicate whose events are not in the log is not
// applicable, and a predicate whose premise did not occur is not exercised. Neither result
// is a pass.
//
// The predicates and the guarantees they judge:
//
//	S1 S2 S3  G3  exact admission         S12      G15 termination is one thing
//	S4        G5  refusal                 S13      G16 first shutdown call wins
//	S5        G4  FIFO                    S14      G14 panics and Goexit stay inside
//	S6        G2  one at a time           S15      G20 conservation
//	S7        G1  states move forward     S16      G24 nothing left behind
//	S8        G15 nothing after done      S18      G18 no self-deadlock
//	S9        G6  hooks                   V1 V2 V8 G12 no lost wake-up
//	S10       G7  timers                  V3       G11 deadline for admission
//	S11       G8  cancel                  V4       G10 quiet period
//	V6        G12 no busy loop            V7       G13 no starvation
//	V5 V9     G15 it converges                V10      G13 no starvation
//	V11       G13 the order of a turn         V12      G9  listeners before the next body
//	S19       G22 registrations end cleanly   S20 S21  G23 drain and accounting
//	S22       G6  tails before later tasks    S23      G7  cancelled timers end at once
//	S24       G7  timers by the policy
//
// S17, the memory order, is checked by the race detector and needs no log.
//
// # What writers promise
//
// The predicates are sound: they never blame a correct executor, provided that each
// event is added where it happens. Invoke is added before the call and Return after it,
// on the caller's goroutine. Begin is the first and End the last event inside a body, on
// the goroutine that runs the body. The executor adds Transit, Park and Admit while it
// holds the lock, or at the atomic step that makes them true. The waker adds Wake after
// it has won the right to signal and before it signals.
package history
