// Package model specifies the executor as an abstract state machine. The invariants are
// checked in every reachable state within bounds.
//
// The package has no clock, no goroutine, no lock and no I/O. Of Eventide it imports only
// the vocabulary.
//
//	s := model.New(model.Config{})
//	for _, next := range model.Next(s, model.Action{Kind: model.StepStartOK}) {
//		fmt.Println(next)
//	}
//
// [Next] returns the set of states that an action may lead to. An empty set means
// that the action is not allowed. [Simulate] follows a whole trace in this way.
// [Explore] visits every state within [Bounds] and checks the invariants.
//
// Time is abstract. The state does not tell whether a quiet period has elapsed, a deadline
// has passed or a timer was due at a call: [Next] returns a state for each possibility.
//
// # What is modelled
//
// Of G1 to G8, G10, G11, G14 to G17, G19 and G20, and for registrations and channels of G22
// and G23: the part that the order of events shows. Of G18: that every call is legal from a
// body. The rules in rules.go say which actions are allowed. The effects in effects.go say
// how they change the state. The invariants say what must hold, independently of the
// rules. Start with phase.go, then state.go.
//
// # What is not
//
//   - Time itself: "never early", equal deadlines, the phase of a fixed rate and
//     the length of a quiet period (G7, G10) need a clock. So do bounds such as
//     "on the next turn" (G6) and a bounded batch (G13).
//   - Sleep and wake-ups (G12), listeners (G9), groups (G21), memory and file
//     descriptors (G24).
//   - What a channel does with its bytes (G23), and which descriptor a registration
//     has. A registration is open, then it has ended, then its owner is notified.
//   - The inside of a call. Each call is one step, at the moment of its decision.
package model
