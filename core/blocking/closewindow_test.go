package blocking

import (
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
)

// countedConn counts the calls of Close, and holds the first one while gate is open.
type countedConn struct {
	net.Conn
	gate   chan struct{}
	closes atomic.Int64
}

func (c *countedConn) Close() error {
	if c.closes.Add(1) == 1 {
		<-c.gate
	}
	return c.Conn.Close()
}

// bubbled runs f in a bubble, with the channel of conn. The group has ended when it returns.
func bubbled(t *testing.T, conn func(net.Conn) net.Conn, f func(*Channel)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g, err := NewGroup(0)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		ch, err := g.Register(conn(ours), HandlerBase{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f(ch)
		<-g.Shutdown().Done()
	})
}

// G24: while a channel waits for the end of an alarm that cuts the connection, an earlier deadline sets no
// other alarm: nothing would wait for that one.
func TestG24NoAlarmAfterTheConnectionIsClosed(t *testing.T) {
	var conn *countedConn
	bubbled(t, func(ours net.Conn) net.Conn {
		conn = &countedConn{Conn: ours, gate: make(chan struct{})} // in the bubble
		return conn
	}, func(ch *Channel) {
		first := time.Now().Add(time.Hour)
		held := make(chan struct{})
		if err := ch.loop.Execute(func() {
			<-held
			ch.Close()
		}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the executor is in the task
		ch.CloseGracefully(first)
		time.Sleep(2 * time.Hour) // the alarm is in Close
		close(held)
		synctest.Wait() // the executor has closed the connection, and waits for the alarm
		select {
		case <-ch.CloseFuture().Done():
			t.Error("G24: the channel has ended, and its alarm runs")
		default:
		}
		ch.CloseGracefully(first.Add(-time.Minute))
		synctest.Wait()
		if n := conn.closes.Load(); n != 2 {
			t.Errorf("G24: %d calls of Close while the channel ends, want 2", n)
		}
		close(conn.gate)
	})
}

// G22: between the close of a channel and the end of its registration its executor may poll: the poller then reads
// nothing, and has no event.
func TestG22PollAfterTheClose(t *testing.T) {
	bubbled(t, func(ours net.Conn) net.Conn { return ours }, func(ch *Channel) {
		over, ready := false, -1
		if err := ch.loop.Execute(func() {
			ch.Close()
			_ = ch.poller.Poll()
			_ = ch.poller.Wait(time.Now().Add(-time.Second))
			_ = ch.poller.Wait(time.Now().Add(time.Second))
			over, ready = true, len(ch.poller.Ready())
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if !over || ready != 0 {
			t.Errorf("G22: a poll after the close: returned %v, %d events, want none", over, ready)
		}
		if p := ch.loop.Termination().Report(); p.Panicked != 0 {
			t.Errorf("G22: a poll after the close: %d panics", p.Panicked)
		}
	})
}

// G22: a deadline in the distant past, after the close, does not close the connection once more.
func TestG22OldDeadlineAfterTheClose(t *testing.T) {
	conn := &countedConn{gate: make(chan struct{})}
	close(conn.gate)
	bubbled(t, func(ours net.Conn) net.Conn { conn.Conn = ours; return conn }, func(ch *Channel) {
		<-ch.Close().Done()
		for _, at := range []core.Deadline{time.Unix(0, 0), time.Now(), time.Now().Add(time.Hour)} {
			ch.CloseGracefully(at)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if n := conn.closes.Load(); n != 1 {
			t.Errorf("G22: %d calls of Close, want 1", n)
		}
	})
}

// G23: an alarm of Close that goes off as the call ends that it is for does not cut the next call, which has time left.
func TestG23AlarmOfAnEarlierCallCutsNothing(t *testing.T) {
	bubbled(t, func(ours net.Conn) net.Conn { return ours }, func(ch *Channel) {
		ch.mu.Lock()
		ch.limit()
		ch.mu.Unlock()
		var cuts []bool
		late := func() error {
			for _, turn := range []int{1, 2} {
				ch.limitPassed(turn)
				cuts = append(cuts, ch.cutCause() != nil)
			}
			return nil
		}
		if err := ch.loop.Execute(func() {
			_ = ch.blocked(func() error { return nil })
			ch.limitPassed(1) // outside of each call
			cuts = append(cuts, ch.cutCause() != nil)
			_ = ch.blocked(late)
		}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if want := []bool{false, false, true}; !slices.Equal(cuts, want) {
			t.Errorf("G23: the connection was cut: %v, want %v: by the alarm of the running call alone", cuts, want)
		}
	})
}
