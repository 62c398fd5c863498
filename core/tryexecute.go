package core

// TryExecute is Execute without the WithRejectedHandler: when the queue is full it
// returns ErrQueueFull at once (G3, G19). It is for callers that can do something better
// than retry, and for bodies of another loop, which a retry would block. It may be called
// from any goroutine, and never waits for the loop.
func (e *Executor) TryExecute(task func()) error {
	if task == nil {
		return nilFunc("TryExecute", "task")
	}
	if err := e.tryAdmit(OpExecute, task); err != nil {
		return e.refuse(OpExecute, err)
	}
	return nil
}
