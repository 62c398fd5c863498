package core

// TryExecute is Execute that asks no WithRejectedHandler: when the queue is full the
// error is ErrQueueFull, at once (G3, G19). It is for those who have something better to
// do than to retry, and for handlers that run on another loop, which a retry would hold
// up. It may be called from anywhere, and never waits for the loop.
func (e *Executor) TryExecute(task func()) error {
	if task == nil {
		return nilFunc("TryExecute", "task")
	}
	if err := e.tryAdmit(OpExecute, task); err != nil {
		return e.refuse(OpExecute, err)
	}
	return nil
}
