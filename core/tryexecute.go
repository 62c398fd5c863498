package core

// TryExecute is Execute without the WithRejectedHandler: when the queue is full it fails at
// once, with an error that matches ErrQueueFull (G3, G19). It is for callers that have a
// better reaction than a retry, and for bodies of another loop, which a retry would block.
// It may be called from any goroutine, and does not wait for the loop.
func (e *Executor) TryExecute(task func()) error {
	if task == nil {
		return nilFunc("TryExecute", "task")
	}
	if err := e.tryAdmit(OpExecute, task); err != nil {
		return e.refuse(OpExecute, err)
	}
	return nil
}
