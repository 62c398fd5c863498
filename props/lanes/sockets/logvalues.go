//go:build linux

package sockets

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"eventide/core"
	"eventide/core/tcp"
)

// Records of core/tcp.
const (
	refusedConnection = "WARN tcp: a connection was accepted and had to be closed"
	acceptFailed      = "WARN tcp: accept failed, the connections that wait are reset"
	brokenListener    = "ERROR tcp: the listener is broken"
	failedHandler     = "ERROR tcp: a handler method panicked or called runtime.Goexit, and its channel is closed"
	abortedChannel    = "WARN tcp: a shutdown aborted a channel"
)

// recordKeys has the keys of the values of each record.
var recordKeys = map[string]string{
	refusedConnection:                "error listener so far",
	"WARN tcp: the listener pauses":  "error listener pause",
	"DEBUG tcp: the listener pauses": "error listener pause",
	acceptFailed:                     "error listener",
	brokenListener:                   "error listener",
	refusedLine:                      "local remote so far on this loop",
	failedHandler:                    "local remote",
	abortedChannel:                   "bytes discarded error local remote so far on this loop",
	servePauses:                      "error listener",
	blockingRefused:                  "local remote " + soFarInGroup,
	blockingFailed:                   "local remote",
	blockingAborted:                  "bytes discarded error local remote " + soFarInGroup,
}

// perChannel has the records that each channel has at most once.
var perChannel = []string{failedHandler, abortedChannel, blockingFailed, blockingAborted}

// judgeLogValues checks the values of each record: which listener or channel it is about, why, and how many such
// events there were.
func (r *run) judgeLogValues() {
	soFar := map[string][]int64{} // by the record and, if it is about one, the loop of the channel
	var once []string             // the records and the addresses of their channels
	for _, rec := range r.logged.all() {
		keys := slices.Sorted(maps.Keys(rec.values))
		heldSince, held := rec.values["answer in flight since"].(time.Time)
		keys = slices.DeleteFunc(keys, func(key string) bool { return held && key == "answer in flight since" && rec.text == abortedChannel })
		if want, known := recordKeys[rec.text]; !known || strings.Join(keys, " ") != want {
			r.violate("the record %q has values for %q, want %q", rec.text, keys, want)
			continue
		}
		of := rec.text
		if at, ok := rec.values["listener"]; ok {
			if fmt.Sprint(at) != r.addr.String() {
				r.violate("the record %q is about a listener at %v, and the listener is at %v", rec.text, at, r.addr)
			}
			r.judgeLoggedError(rec)
		} else {
			line := fmt.Sprintf("%s: from %v to %v", rec.text, rec.values["local"], rec.values["remote"])
			if slices.Contains(perChannel, rec.text) && slices.Contains(once, line) {
				r.violate("the log has twice %q", line)
			}
			once = append(once, line)
			c := r.loggedChannel(rec)
			switch {
			case c != nil && r.group != nil:
				c.judgeBlockingRecord(rec)
			case c != nil:
				of += fmt.Sprintf(" %p", c.ch.EventLoop())
				c.judgeRecord(rec, heldSince)
			case r.group == nil || !r.judgeStrange(rec):
				r.violate("the record %q is about a channel from %v to %v, and the run has none", rec.text, rec.values["local"], rec.values["remote"])
				continue
			}
		}
		for _, key := range []string{"so far", "so far on this loop", soFarInGroup} {
			if v, ok := rec.values[key]; ok {
				n, _ := v.(int64)
				soFar[of] = append(soFar[of], n)
			}
		}
	}
	for of, counts := range soFar {
		slices.Sort(counts)
		for i, n := range counts {
			if n != 1<<i {
				r.violate("the records %q count %d events so far, want powers of 2 from 1", of, counts)
				break
			}
		}
	}
}

// loggedChannel returns the connection whose channel a record is about, or nil.
func (r *run) loggedChannel(rec record) *conn {
	at := slices.IndexFunc(r.conns, func(c *conn) bool {
		return c.ch != nil && c.ch.LocalAddr().String() == fmt.Sprint(rec.values["local"]) && c.ch.RemoteAddr().String() == fmt.Sprint(rec.values["remote"])
	})
	if at < 0 {
		return nil
	}
	return r.conns[at]
}

// judgeRecord checks a record about the channel. heldSince is not zero if it says that an answer was in flight.
func (c *conn) judgeRecord(rec record, heldSince time.Time) {
	cause := c.ch.CloseCause()
	switch rec.text {
	case failedHandler:
		if !errors.Is(cause, core.ErrHandlerFailed) {
			c.violate("the log says that a handler of the channel has failed, and the cause of the close is %v", cause)
		}
	case abortedChannel:
		err, _ := rec.values["error"].(error)
		cutsLinger := c.r.p.Options.linger() > 0 && (errors.Is(err, core.ErrShutdown) || errors.Is(err, core.ErrShutdownTimeout))
		if err != cause && !cutsLinger {
			c.violate("the log says that a shutdown has aborted the channel with the error %v, and the cause of the close is %v", err, cause)
		}
		if n := rec.values["bytes discarded"]; n != c.ch.PendingBytes() {
			c.violate("the log says that a shutdown has discarded %v bytes of the channel, and %d are pending", n, c.ch.PendingBytes())
		}
		c.judgeHeldSince(heldSince)
	}
}

// judgeHeldSince checks since when a shutdown that has aborted the channel says that an answer was in flight.
func (c *conn) judgeHeldSince(since time.Time) {
	at := c.atClose
	_, must := c.endsAfter()
	switch {
	case at == nil:
	case since.IsZero():
		if must && at.held && len(c.endCalls) == 0 && !c.mayBeBroken() {
			c.violate("the log does not say that an answer was in flight")
		}
	case since.Before(at.heldFrom) || since.After(at.heldSince):
		c.violate("the log says that an answer was in flight since %v, want %v to %v", since.Sub(c.r.start), at.heldFrom.Sub(c.r.start), at.heldSince.Sub(c.r.start))
	}
}

// judgeLoggedError checks that the run explains the error of a record about the listener.
func (r *run) judgeLoggedError(rec record) {
	err, _ := rec.values["error"].(error)
	o := r.p.Options
	ok := r.explainsPause(err)
	switch rec.text {
	case refusedConnection:
		ok = ok || err != nil && err == r.listener.CloseCause() || // the one that it had in hand
			errors.Is(err, tcp.ErrListenerClosed) ||
			errors.Is(err, core.ErrRejected) && r.shutdown.Load() > 0 ||
			errors.Is(err, core.ErrHandlerFailed) && (o.BadHandler == panicHandler || o.BadHandler == goexitHandler) ||
			o.BadHandler == nilHandler && err != nil && err.Error() == "tcp: Listen: newHandler returned nil, want a Handler"
	case acceptFailed:
	case brokenListener:
		ok = r.breaksListener(err)
	default: // listenerPauses or judgePauses has judged it
		return
	}
	if !ok {
		r.violate("the record %q has the error %v, and nothing in the run explains that", rec.text, err)
	}
}
