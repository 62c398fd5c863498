package model

import "fmt"

// move is one legal change of phase, with the actions that may cause it and the reason.
type move struct {
	from, to Phase
	by       kindSet
	reason   string
}

// moves is the whole of G1. No other move is possible. A failed start that ends the executor
// is one move here. Core passes through the states between: the shutdown call moves the state
// before the start is attempted, and admission closes before the end.
var moves = [...]move{
	{NotStarted, Started, kinds(StepStartOK), "first use, once the spawner has accepted"},
	{NotStarted, ShuttingDown, kinds(OpShutdownGracefully), "a shutdown call"},
	{NotStarted, Shutdown, kinds(OpShutdownGracefully, OpShutdown), "Shutdown, or a timeout of 0"},
	{NotStarted, Terminated, kinds(OpShutdownGracefully, OpShutdown), "a shutdown call whose own start failed"},
	{Started, ShuttingDown, kinds(OpShutdownGracefully), "a shutdown call"},
	{Started, Shutdown, kinds(OpShutdownGracefully, OpShutdown, StepLoopFails), "Shutdown, a timeout of 0, or a broken loop"},
	{ShuttingDown, Shutdown, kinds(StepLoopCloses, StepTimeoutFires, OpShutdown, StepLoopFails), "quiet period over, timeout, Shutdown, or a broken loop"},
	{ShuttingDown, Terminated, kinds(StepStartFail), "the start failed during the shutdown"},
	{Shutdown, Terminated, kinds(StepDone, StepStartFail), "nothing left, or the start failed"},
}

// illegalMove is the value with which moveTo panics.
type illegalMove struct {
	from, to Phase
	by       Op
}

// Error names both ends and the action.
func (e illegalMove) Error() string {
	return fmt.Sprintf("model: illegal move %v -> %v by %v", e.from, e.to, kindWord(e.by))
}

// moveTo is the only writer of Phase. It panics on a move that is not in the table:
// that is a broken rule of the model, not a condition of the executor.
func (s *State) moveTo(to Phase, by Op) {
	for i := range moves {
		if m := &moves[i]; m.from == s.Phase && m.to == to && m.by.has(by) {
			s.Phase = to
			return
		}
	}
	panic(illegalMove{s.Phase, to, by})
}
