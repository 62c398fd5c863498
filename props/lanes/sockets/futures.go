//go:build linux

package sockets

import (
	"context"
	"errors"
	"reflect"

	"eventide/core"
	"eventide/core/tcp"
	"eventide/props/lanes/sockets/kernel"
)

// judgeFutures checks what the futures of the writes say after the end, and the error with which they
// completed. All calls of a future give one answer.
func (c *conn) judgeFutures() {
	for _, w := range c.writes {
		if w.future == nil || w.done != 1 {
			continue
		}
		if err := w.future.Err(); !reflect.DeepEqual(err, w.err) {
			c.violate("write %d: Err is %v after the end, and the listener got %v", w.id, err, w.err)
		}
		if n, err := w.future.Wait(context.Background()); n != w.result || !reflect.DeepEqual(err, w.err) {
			c.violate("write %d: Wait returns %d and %v after the end, and the listener got %d and %v", w.id, n, err, w.result, w.err)
		}
		if (w.flush || w.refused != nil && !w.uncertain) && w.result != 0 {
			c.violate("write %d: its future says that %d bytes were sent; it is a flush (%v) or was refused (%v)", w.id, w.result, w.flush, w.refused)
		}
		c.judgeClosing(w)
	}
}

// judgeClosing checks whether the error of an accepted write says that a close had begun.
func (c *conn) judgeClosing(w *write) {
	if w.refused != nil || w.err == nil {
		return
	}
	end := c.events[c.first("CloseFuture")]
	begun, returned := false, c.open // after the shutdown call had returned
	for _, call := range c.endBegins {
		begun = begun || call.what == "CloseGracefully"
	}
	for _, call := range c.endReturns {
		returned = returned || call.what == "CloseGracefully" && call.at < end.at // a close of the same time may come first
	}
	_, ours := c.find(c.r.k.Connections())
	begun = begun || c.r.shutdown.Load() > 0 && c.r.shutdown.Load() < end.stamp || c.r.group == nil && ours != nil && ours.PeerEnded
	switch closing := errors.Is(w.err, c.r.sentinels().closing); {
	case closing && !begun:
		c.violate("write %d failed with %v, which says that the channel was closing, and no graceful close had begun", w.id, w.err)
	case !closing && returned:
		c.violate("write %d failed with %v, which does not say that the channel was closing, and a graceful close had begun", w.id, w.err)
	}
}

// judgeFlushes checks that the future of each flush succeeds with the writes before it, and that it
// fails only if one of those that may be before it fails. placed has how many bytes of each write were
// sent.
func (c *conn) judgeFlushes(placed map[byte]int) {
	for _, f := range c.writes {
		if !f.flush || f.returned == 0 || f.refused != nil {
			continue
		}
		missing := false
		for _, w := range c.writes {
			if w.flush || w.refused != nil || placed[w.id] == w.n {
				continue
			}
			missing = missing || w.began < f.returned
			if f.err == nil && w.returned > 0 && w.returned < f.began {
				c.violate("flush %d has succeeded, and of write %d, which was made before, %d of %d bytes were sent", f.id, w.id, placed[w.id], w.n)
			}
		}
		if f.err != nil && !missing && c.uncertain == 0 {
			c.violate("flush %d has failed with %v, and all bytes before it were sent", f.id, f.err)
		}
	}
}

// judgeOutcomes checks the errors of the futures of Close, CloseGracefully and CloseOutput.
func (c *conn) judgeOutcomes(ours *kernel.End) {
	cause := c.ch.CloseCause()
	for _, o := range c.outcomes {
		var closed *core.ClosedError
		ok := false
		switch o.what {
		case "Close":
			ok = c.r.group == nil && sameError(o.err, c.closeError(ours)) || c.r.group != nil && c.explainsClose(o.err)
		case "CloseGracefully":
			ok = o.err == nil || o.err == cause || cause == nil && o.err == c.r.sentinels().closed
		case "CloseOutput":
			ok = o.err == nil || errors.As(o.err, &closed) && closed.Cause == cause && errors.Is(o.err, tcp.ErrChannelClosed)
		}
		if !ok {
			c.violate("the future of %s has the error %v; the cause of the close is %v, and close(2) has returned %v", o.what, o.err, cause, ours.CloseErr)
		}
		for _, other := range c.outcomes {
			if other.what == o.what && !reflect.DeepEqual(other.err, o.err) {
				c.violate("two listeners of %s got %v and %v", o.what, o.err, other.err)
			}
		}
	}
}

// closeError returns the error of Close.
func (c *conn) closeError(ours *kernel.End) error {
	err := closeError(ours.CloseErr)
	if err != nil && c.spec.Embedded {
		return ours.CloseErr // its Close returns the errno as it is
	}
	return err
}

// judgeAfterwards makes every call of a channel that has ended, and checks the answers.
func (c *conn) judgeAfterwards(ours *kernel.End) {
	ch, ctx := c.ch, context.Background()
	pending, cause, local, remote := ch.PendingBytes(), ch.CloseCause(), ch.LocalAddr().String(), ch.RemoteAddr().String()
	c.r.afterwards += 3
	for _, f := range []writeFuture{ch.write([]byte{1}, false), ch.write([]byte{1}, true), ch.write(nil, false), ch.flush()} {
		var closed *core.ClosedError
		n, err := f.Wait(ctx)
		c.refusedAtEnd = err
		if n != 0 || !errors.As(err, &closed) || closed.Cause != cause || !errors.Is(err, c.r.sentinels().closed) || !reflect.DeepEqual(f.Err(), err) {
			c.violate("a write after the end returns %d, %v and %v, want 0 and a *ClosedError with the cause %v", n, err, f.Err(), cause)
		}
		f.OnDone(nil)
		called := 0
		f.OnDone(func(again int, other error) {
			if called++; again != n || other != err {
				c.violate("a listener of a write after the end gets %d and %v, and Wait returns %d and %v", again, other, n, err)
			}
		})
		if called != 1 {
			c.violate("a listener of a write after the end was called %d times, want once", called)
		}
	}
	calls := map[string]*core.Future[struct{}]{"Close": ch.Close(), "CloseGracefully": ch.CloseGracefully(core.Deadline{})}
	if over := ofTCP(ch); over != nil {
		c.judgeHoldAfterwards(over)
		calls["CloseOutput"] = over.CloseOutput()
	}
	for what, f := range calls {
		_, err := f.Wait(ctx)
		if first := c.futures[what]; first != nil && first != f {
			c.violate("%s returns another future after the end", what)
		}
		c.outcomes = append(c.outcomes, outcome{what, err})
	}
	if _, err := ch.CloseFuture().Wait(ctx); err != nil {
		c.violate("the CloseFuture has the error %v", err)
	}
	c.judgeOutcomes(ours)
	if c.r.group == nil {
		c.judgeRefusedAfterwards()
	}
	if ch.IsOpen() || ch.PendingBytes() != pending || ch.CloseCause() != cause || ch.LocalAddr().String() != local || ch.RemoteAddr().String() != remote {
		c.violate("after the end IsOpen is %v, PendingBytes %d and was %d, CloseCause %v and was %v, between %v and %v and was between %v and %v", ch.IsOpen(), ch.PendingBytes(), pending, ch.CloseCause(), cause, ch.LocalAddr(), ch.RemoteAddr(), local, remote)
	}
}

// judgeRefusedAfterwards refuses writes until their number has doubled: a write that a shutdown has
// refused is logged then, also after the end of the channel.
func (c *conn) judgeRefusedAfterwards() {
	before, most := c.r.logged.count(refusedLine), int(c.r.broadcastCount.Load())*len(c.r.conns)+c.r.afterwards
	for _, other := range c.r.conns {
		most += len(other.writes)
	}
	for range most + 1 {
		c.ch.write([]byte{1}, false)
	}
	c.r.afterwards += most + 1
	cause, lines := c.ch.CloseCause(), c.r.logged.count(refusedLine)-before
	if byShutdown := errors.Is(cause, core.ErrShutdown) || errors.Is(cause, core.ErrShutdownTimeout); byShutdown != (lines > 0) {
		c.violate("the channel has closed with %v; %d writes after its end are logged by %d lines as refused by a shutdown", cause, most+1, lines)
	}
}

// judgeHoldAfterwards makes the calls that only channels of core/tcp have.
func (c *conn) judgeHoldAfterwards(ch *tcp.Channel) {
	if release, err := ch.Hold(); !errors.Is(err, tcp.ErrChannelClosed) {
		c.violate("Hold returns %v after the end", err)
	} else {
		release()
	}
	ch.SetAutoRead(false)
	ch.SetAutoRead(true)
	if isRegistered(ch) {
		c.violate("the channel is registered after the end")
	}
	c.look(ch)
}
