//go:build linux

package sockets

import (
	"errors"
	"fmt"
	"slices"

	"eventide/core"
	"eventide/props/lanes/sockets/kernel"
)

// Records of core/blocking.
const (
	servePauses     = "WARN blocking: Serve pauses, as accept failed"
	blockingRefused = "WARN blocking: a shutdown refused a write; a handler waits in Read for answers computed elsewhere"
	blockingFailed  = "ERROR blocking: a handler method panicked or called runtime.Goexit, and its channel is closed"
	blockingAborted = "WARN blocking: a shutdown aborted a channel"
	soFarInGroup    = "so far in this group"
)

// acceptFailures has the calls of Accept, made by Serve, that failed. Only the goroutine of Serve uses
// it, until the end.
type acceptFailures struct {
	first   []error // the first failure of each series
	certain int     // how many of them Serve must have logged: it has called Accept again before the shutdown
	failed  bool    // the last call has failed
	begins  bool    // and is the first of a series
}

// called is called before each call of Accept.
func (a *acceptFailures) called(shutdown bool) {
	if !shutdown {
		a.certain = len(a.first)
	}
}

// returned is called with the error of each call of Accept.
func (a *acceptFailures) returned(err error) {
	a.begins = err != nil && !a.failed
	a.failed = err != nil
	if a.begins {
		a.first = append(a.first, err)
	}
}

// served is called with the error of Serve: a failure that Serve returns is not logged.
func (a *acceptFailures) served(err error) {
	if err != nil && a.begins {
		a.first = a.first[:len(a.first)-1]
	}
}

// judgePauses checks that Serve has logged the first failure of each series, and no other.
func (r *run) judgePauses() {
	var got []any
	for _, rec := range r.logged.all() {
		if rec.text == servePauses {
			got = append(got, rec.values["error"])
		}
	}
	a := &r.accepts
	ok := a.certain <= len(got) && len(got) <= len(a.first)
	for i := range min(len(got), len(a.first)) {
		ok = ok && got[i] == a.first[i]
	}
	if !ok {
		r.violate("Serve has logged the pauses %v, want those of %v, of which the last %d may be missing", got, a.first, len(a.first)-a.certain)
	}
}

// judgeBlockingRecord checks a record of core/blocking about the channel.
func (c *conn) judgeBlockingRecord(rec record) {
	cause, pending := c.ch.CloseCause(), c.ch.PendingBytes()
	byHandler := errors.Is(cause, core.ErrHandlerFailed)
	switch rec.text {
	case blockingFailed:
		if !byHandler {
			c.violate("the log says that a handler of the channel has failed, and the cause of the close is %v", cause)
		}
	case blockingAborted:
		if err := rec.values["error"]; err != cause {
			c.violate("the log says that a shutdown has aborted the channel with the error %v, and the cause of the close is %v", err, cause)
		}
		if n := rec.values["bytes discarded"]; n != pending {
			c.violate("the log says that a shutdown has discarded %v bytes of the channel, and %d are pending", n, pending)
		}
		if may, _ := c.endsAfter(); !may || byHandler || pending == 0 && !errors.Is(cause, core.ErrShutdownTimeout) {
			c.violate("the log says that a shutdown has aborted the channel; it has closed after the shutdown call (%v) with the cause %v, and %d bytes are pending", may, cause, pending)
		}
	case blockingRefused:
		if !byShutdown(c.refusedAtEnd) && !slices.ContainsFunc(c.writes, func(w *write) bool { return !w.flush && byShutdown(w.refused) }) {
			c.violate("the log says that a shutdown has refused a write of the channel, and it has refused none")
		}
	}
}

// judgeStrange checks a record about a channel that the run does not know, because it has never become
// active: a shutdown has aborted it at the deadline, and it had no bytes. It reports whether there is
// such a channel.
func (r *run) judgeStrange(rec record) bool {
	if rec.text != blockingAborted {
		return false
	}
	if err, n := rec.values["error"], rec.values["bytes discarded"]; err != core.ErrShutdownTimeout || n != int64(0) {
		r.violate("the log says that a shutdown has aborted a channel that was never active with the error %v and %v bytes, want %v and none", err, n, core.ErrShutdownTimeout)
	}
	return slices.ContainsFunc(r.k.Connections(), func(k kernel.Connection) bool {
		return k.Ends[1].Ours && k.Accepted && k.Server.String() == fmt.Sprint(rec.values["local"]) && k.Client.String() == fmt.Sprint(rec.values["remote"])
	})
}
