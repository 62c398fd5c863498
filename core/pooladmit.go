package core

// admit is the slow path of Execute: the pool is not started, closed, full or traced, or the
// call is lazy.
func (p *Pool) admit(op Op, task func()) error {
	for attempt, open := 1, true; ; attempt++ {
		err := p.tryAdmit(op, task)
		if err == nil {
			return nil
		}
		if !open || err.Reason != ErrQueueFull { // not errors.Is: the error of a spawner may wrap ErrQueueFull of another queue
			return p.refuse(op, err)
		}
		if p.waitError() != nil { // retries on every worker would leave none to make room (G19)
			return p.refuse(op, err)
		}
		var retry bool
		if retry, open = p.askToRetry(attempt, err, func() { _ = p.refuse(op, err) }); !retry {
			return p.refuse(op, err)
		}
	}
}

// refuse counts a refused task, and updates the reason if the pool has terminated meanwhile: see
// Executor.refuse.
func (p *Pool) refuse(op Op, err *RejectedError) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.State() < StateTerminated {
		p.rejected++
		return err
	}
	p.rejectedLate++
	if err.State == StateTerminated {
		return err
	}
	p.traceAdmit(op, false)
	return &RejectedError{State: StateTerminated, Reason: p.shutdown.cause}
}

// tryAdmit accepts or refuses a task without retries. The check of the gate and the push are one
// critical section (G3).
func (p *Pool) tryAdmit(op Op, task func()) *RejectedError {
	if err := p.lockOpen(op); err != nil {
		return err
	}
	if p.full() {
		p.traceAdmit(op, false)
		return p.rejectAndUnlock(ErrQueueFull)
	}
	p.queue.Push(task)
	p.traceAdmit(op, true)
	if op == OpExecuteLazy && !p.full() { // if this task has filled the queue, no later task could wake a worker
		p.mu.Unlock()
		return nil
	}
	p.unlockAndWake()
	return nil
}

// full reports whether the queue is at its limit. Requires mu.
func (p *Pool) full() bool { return p.queue.Size() >= p.cfg.limit }

// lockOpen returns nil with mu held if the pool is started and open; otherwise it returns the
// refusal without mu. It starts the first worker, or waits for a start in progress and returns
// the error of that start (G17), or the reason of a close since it: see Executor.lockOpen.
func (p *Pool) lockOpen(op Op) *RejectedError {
	for {
		p.lock()
		if p.gate&gateClosed != 0 {
			p.traceAdmit(op, false)
			return p.rejectAndUnlock(p.shutdown.cause)
		}
		if p.gate&gateNotStarted == 0 {
			return nil
		}
		if err := p.startAndUnlock(); err != nil {
			p.mu.Lock()
			if cause := p.shutdown.cause; cause != nil {
				err = cause
			}
			p.traceAdmit(op, false)
			return p.rejectAndUnlock(err)
		}
	}
}

// rejectAndUnlock returns the refusal for reason. Requires mu, and releases it.
func (p *Pool) rejectAndUnlock(reason error) *RejectedError {
	defer p.mu.Unlock()
	return &RejectedError{State: p.State(), Reason: reason}
}

// traceAdmit traces the result of op. Requires mu.
func (p *Pool) traceAdmit(op Op, accepted bool) {
	if p.cfg.tracer != nil {
		p.trace(Event{Kind: EventAdmit, Op: op, Accepted: accepted})
	}
}

// internalQueue holds internal tasks, such as the calls of listeners, in order. Guarded by
// Pool.mu.
type internalQueue struct {
	work []func()
	pos  int
}

func (q *internalQueue) len() int { return len(q.work) - q.pos }

func (q *internalQueue) push(work func()) { q.work = append(q.work, work) }

// pushFront puts work before all others.
func (q *internalQueue) pushFront(work func()) {
	if q.pos == 0 {
		q.work = append([]func(){work}, q.work...)
		return
	}
	q.pos--
	q.work[q.pos] = work
}

// pop requires len() > 0.
func (q *internalQueue) pop() func() {
	work := q.work[q.pos]
	q.work[q.pos] = nil
	if q.pos++; q.pos == len(q.work) {
		q.work, q.pos = q.work[:0], 0
		if cap(q.work) > keptCapacity {
			q.work = nil // give back the memory of a burst
		}
	}
	return work
}

// postInternal queues an internal task. It does not count as a task or towards the limit,
// and does not restart the quiet period (G9, G10). It returns false if the pool has terminated or
// was never started; the caller must then run work itself.
func (p *Pool) postInternal(work func()) bool {
	p.mu.Lock()
	if State(p.state.Load()) == StateTerminated || p.gate&gateNotStarted != 0 {
		p.mu.Unlock()
		return false
	}
	p.internal.push(work)
	p.unlockAndWake()
	return true
}

// resumeInternal queues rest in front of the waiting internal tasks. See Executor.resumeInternal.
func (p *Pool) resumeInternal(rest func()) {
	p.mu.Lock()
	p.internal.pushFront(rest)
	p.unlockAndWake()
}
