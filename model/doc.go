// Package model specifies the executor as an abstract state machine. The invariants are
// checked in every reachable state within bounds.
//
// The package has no clock, no goroutine, no lock and no I/O. Its only import from
// Eventide is the vocabulary.
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
// Time is abstract. The end of a quiet period and of a timeout are actions that may occur
// at any time. Whether a timer was due at a shutdown call is undetermined: [Next] returns
// a state for each possibility.
//
// # What is modelled
//
// The model covers the order of events in G1 to G8, G10, G11, G14 to G17, G19 and G20, and,
// for registrations and channels, in G22 and G23. Of G18 it covers that Execute, Shutdown and
// State are legal inside a body. The rules in rules.go define which actions are allowed, and the
// effects in effects.go how an action changes the state. The invariants must hold in every state,
// and do not use the rules. Start with phase.go, then state.go.
//
// # What is not
//
//   - Time itself: "never early", equal deadlines, the phase of a fixed rate and
//     the length of a quiet period (G7, G10) need a clock. So do bounds such as
//     "on the next turn" (G6) and a bounded batch (G13).
//   - Sleep and wake-ups (G12), listeners (G9), groups (G21), memory and file
//     descriptors (G24).
//   - The bytes of a channel (G23) and the descriptor of a registration. A registration
//     is open, then it has ended, then its owner is notified.
//   - The inside of a call. Each call is one step, at the moment at which the executor
//     decides it.
package model
