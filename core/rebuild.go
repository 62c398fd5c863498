package core

import (
	"errors"
	"log/slog"

	"eventide/core/internal/poll"
)

// pollerFailed handles an error of the poller. An event loop rebuilds its poller once. If
// the poller fails again before it has worked, or cannot be rebuilt, or the executor is
// not an event loop, the executor ends (G15). Loop only.
func (e *Executor) pollerFailed(err error) {
	if e.io == nil || e.io.suspect {
		e.fail(err)
		return
	}
	e.io.suspect = true
	if reopenErr := e.rebuild(err); reopenErr != nil {
		e.fail(errors.Join(err, reopenErr))
	}
}

// rebuild reopens the poller, moves the registrations into it, and logs the reason. Loop only.
func (e *Executor) rebuild(why error) error {
	if p, ok := e.io.poller.(poll.AlarmStopper); ok {
		p.StopAlarm() // Reopen would stop it with mu held, and a Clock is never called with mu held
	}
	moved, lost, err := e.reopen()
	if err != nil {
		return err
	}
	e.log(slog.LevelWarn, "the poller was rebuilt", "why", why, "moved", moved, "lost", lost)
	return nil
}

// reopen reopens the poller and adds every registration to it (netty's rebuildSelector,
// R196). A registration that cannot be added ends (Netty 4.2 leaves it without
// events): a plain one is closed with the error, the Abort method of a channel is called. mu
// is released even if the poller panics; the loop fails then (G15). Loop only.
func (e *Executor) reopen() (moved, lost int, err error) {
	io := e.io
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := io.poller.Reopen(); err != nil {
		return 0, 0, err
	}
	io.rebuilds++
	for _, r := range io.slots {
		if r == nil || r.interest&(Readable|Writable) == 0 || io.watcher(r.fd) != r {
			continue
		}
		if err := io.poller.Add(r.fd, r.interest, r.token); err != nil {
			delete(io.byFD, int32(r.fd))
			io.notices = append(io.notices, notice{r, noticeAbort, err})
			lost++
			continue
		}
		moved++
	}
	return moved, lost, nil
}

// errPremature is the reason for a rebuild of a poller that does not wait.
var errPremature = errors.New("core: the poller repeatedly returns without a reason")

// judgeReturn counts returns of Wait without a reason, and rebuilds the poller after
// maxPremature of them. Otherwise a kernel that reports a removed descriptor, because a
// duplicate of it is still open, would keep the loop busy for ever (R195, R205). Loop
// only.
func (e *Executor) judgeReturn(explained bool, until int64) {
	io := e.io
	if explained || until != noDeadline && e.now() >= until {
		io.premature, io.suspect = 0, false
		return
	}
	if io.premature++; io.premature < maxPremature {
		return
	}
	io.premature = 0
	if err := e.rebuild(errPremature); err != nil {
		e.log(slog.LevelWarn, "the poller could not be rebuilt, the old one stays", "error", err)
	}
}

// sleepWithoutPoller is the sleep of an executor whose poller is broken. An event loop
// then still waits for channels that end on other goroutines.
func (e *Executor) sleepWithoutPoller() {
	if e.io != nil {
		<-e.io.fallback
	}
}

// wakeLoop wakes the sleeping loop. The caller has claimed the wake-up.
func (e *Executor) wakeLoop() {
	if e.io == nil || !e.io.broken.Load() {
		e.wakePoller()
		return
	}
	select {
	case e.io.fallback <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// wakePoller calls Wake of the poller, which may be user code. The caller's task is already
// accepted, so a panic in Wake must not reach the caller: it is a failure of the poller
// (G15).
func (e *Executor) wakePoller() {
	returned := false
	defer func() {
		if !returned {
			e.wakeFailed(recover())
		}
	}()
	e.poller.Wake()
	returned = true
}

// wakeFailed posts the failure of Wake to the loop, and calls Wake once more, so that the
// wake-up is not lost (G12). v is the value of the panic; nil means that Wake has called
// Goexit. If Wake fails again the loop is announced asleep as before, so that the next
// caller that posts work tries again.
func (e *Executor) wakeFailed(v any) {
	err := ErrGoexit
	if v != nil {
		err = newPanicError(v)
	}
	posted := e.postInternal(func() {
		if e.broken == nil {
			e.fail(err)
		}
	})
	if !posted {
		return // the loop has woken without Wake, and has ended
	}
	var again error
	defer func() {
		if again != nil {
			e.announceAgain(err)
		}
	}()
	attempt(&again, func() error { e.poller.Wake(); return nil })
}

// announceAgain undoes the claim of a failed wake-up, unless the loop has woken without Wake.
func (e *Executor) announceAgain(err error) {
	e.mu.Lock()
	e.asleep = e.inSleep
	e.mu.Unlock()
	e.log(slog.LevelError, "the poller cannot wake the loop", "error", err)
}
