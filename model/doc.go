// Package model is the executor as an abstract state machine: small enough to
// read in one sitting, and checked over every reachable state.
//
// It is pure. It has no clock, no goroutine, no lock and no I/O, and it imports
// nothing of Eventide. Core and model share only the words of a trace: [Action].
//
//	s := model.New(model.Config{})
//	for _, next := range model.Next(s, model.Action{Kind: model.KindStartOK}) {
//		fmt.Println(next)
//	}
//
// [Next] answers with the set of states an action may lead to; an empty set
// means that the action is not allowed. [Simulate] runs a whole trace that way.
// [Explore] visits every state within [Bounds] and checks the invariants.
//
// Time is abstract. That a quiet period has elapsed, that a deadline has passed
// and that a timer was due at a call are choices, so a tie goes both ways.
//
// # What is modelled
//
// G1 to G8, G10, G11, G14 to G17, G19, G20, and of registrations and channels G22
// and G23, each as far as the order of events shows it. The rules in rules.go say what may happen, effects.go says
// what changes, and the invariants say, without looking at the rules, what must
// hold. Start with phase.go, then state.go.
//
// # What is not
//
//   - Time itself: "never early", equal deadlines, the phase of a fixed rate and
//     the length of a quiet period (G7, G10) need a clock. So do bounds such as
//     "on the next turn" (G6) and a bounded batch (G13).
//   - Sleep and wake-ups (G12), listeners (G9), groups (G21), memory and file
//     descriptors (G24).
//   - What a channel does with its bytes (G23), and which descriptor a registration
//     has: it is open, then ended, and its owner is told.
//   - The inside of a call: each call is one step, at the moment it is decided.
package model
