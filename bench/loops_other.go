//go:build !linux

package bench

// loops are the event loops, which need epoll.
var loops, bareLoops []implementation

// readinessCases and registrationCases need them.
func readinessCases() Group       { return nil }
func registrationCases(int) Group { return nil }
