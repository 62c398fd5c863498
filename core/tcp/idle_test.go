package tcp_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
	"eventide/core/tcp/tcptest"
)

// idler writes down when it is called.
type idler struct {
	tcp.HandlerBase
	begin  time.Time
	calls  *coretest.Journal
	onRead func(ch *tcp.Channel)
}

func (h *idler) Idle(_ *tcp.Channel, kind tcp.IdleKind) {
	h.calls.Add(fmt.Sprintf("%v@%v", [...]string{"read", "write", "all"}[kind], time.Since(h.begin)))
}

func (h *idler) Read(ch *tcp.Channel, _ []byte) {
	if h.onRead != nil {
		h.onRead(ch)
	}
}

// TestIdleTimeouts: each kind, in virtual time, to the nanosecond.
func TestIdleTimeouts(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name             string
		read, write, all time.Duration
		script           func(p *tcptest.Peer)
		want             string
	}{
		{"none", 0, 0, 0, func(*tcptest.Peer) { time.Sleep(time.Hour) }, ""},
		{"silence", 10 * s, 15 * s, 20 * s, func(*tcptest.Peer) { time.Sleep(41 * s) }, "read@10s write@15s all@20s read@20s write@30s read@30s all@40s read@40s"},
		{"reads", 10 * s, 0, 12 * s, func(p *tcptest.Peer) {
			for range 5 {
				time.Sleep(9 * s)
				p.Send([]byte("x"))
			}
			time.Sleep(13 * s)
		}, "read@55s all@57s"},
		{"writes", 10 * s, 15 * s, 12 * s, func(p *tcptest.Peer) {
			for range 2 {
				time.Sleep(6 * s)
				p.Channel().WriteAndFlush([]byte("x"))
			}
			time.Sleep(16 * s)
		}, "read@10s read@20s all@24s write@27s"},
		{"a peer that does not read", 0, 10 * s, 0, func(p *tcptest.Peer) {
			p.SetRoom(0)
			for range 3 {
				time.Sleep(4 * s)
				p.Channel().WriteAndFlush([]byte("x"))
			}
			p.SetRoom(-1)
			time.Sleep(9 * s)
		}, "write@10s"},
		{"a peer that does not read, and a handler that writes", 0, 10 * s, 0, func(p *tcptest.Peer) {
			p.SetRoom(0)
			time.Sleep(4 * s)
			coretest.OnLoop(t, p.Channel().EventLoop(), func() { p.Channel().WriteAndFlush([]byte("x")) })
			time.Sleep(7 * s)
		}, "write@10s"},
		{"paused input", 10 * s, 0, 10 * s, func(p *tcptest.Peer) {
			p.Channel().SetAutoRead(false)
			time.Sleep(25 * s)
			p.Channel().SetAutoRead(true)
			time.Sleep(11 * s)
		}, "read@35s all@35s"},
		{"a graceful close", 10 * s, 10 * s, 10 * s, func(p *tcptest.Peer) {
			time.Sleep(5 * s)
			p.Channel().CloseGracefully(time.Time{})
			time.Sleep(time.Hour)
			p.End()
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &idler{begin: time.Now(), calls: new(coretest.Journal)}
				p := tcptest.Connect(t, h, tcp.WithIdleTimeouts(tt.read, tt.write, tt.all))
				tt.script(p)
				synctest.Wait()
				h.calls.Want(t, "the calls of Idle", tt.want)
			})
		})
	}
}

// TestIdleWhileHeld: an answer that takes long is no idleness of the peer, which has its full
// time after the answer.
func TestIdleWhileHeld(t *testing.T) {
	const s = time.Second
	for _, answer := range []time.Duration{8 * s, 10 * s, 25 * s} {
		synctest.Test(t, func(t *testing.T) {
			h := &idler{begin: time.Now(), calls: new(coretest.Journal)}
			h.onRead = func(ch *tcp.Channel) {
				release, err := ch.Hold()
				coretest.Must(t, err)
				time.AfterFunc(answer, release)
			}
			p := tcptest.Connect(t, h, tcp.WithIdleTimeouts(10*s, 0, 0))
			p.Send([]byte("question"))
			time.Sleep(answer + 10*s - 1)
			h.calls.Want(t, "before the peer's time is over", "")
			time.Sleep(s)
			h.calls.Want(t, "the calls of Idle", fmt.Sprintf("read@%v", answer+10*s))
		})
	}
}

// plain is a handler that is no IdleHandler.
type plain struct {
	tcp.HandlerBase
	*coretest.Journal
}

func (h plain) Error(_ *tcp.Channel, err error) { h.Add(err.Error()) }
func (h plain) Inactive(*tcp.Channel)           { h.Add("Inactive") }

// TestIdleWithoutAnIdleHandler closes the channel, with an error that names the timeout.
func TestIdleWithoutAnIdleHandler(t *testing.T) {
	for name, tt := range map[string]struct {
		opt  tcp.Option
		want string
	}{
		"read":  {tcp.WithIdleTimeouts(time.Minute, 0, 0), "tcp: channel is idle: nothing was read for 1m0s"},
		"write": {tcp.WithIdleTimeouts(0, time.Minute, 0), "tcp: channel is idle: nothing was sent for 1m0s"},
		"all":   {tcp.WithIdleTimeouts(0, 0, time.Minute), "tcp: channel is idle: nothing was read or sent for 1m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := plain{Journal: new(coretest.Journal)}
				p := tcptest.Connect(t, h, tt.opt)
				time.Sleep(time.Minute - 1)
				if !p.Channel().IsOpen() {
					t.Error("closed before the timeout")
				}
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				h.Want(t, "the handler", tt.want+" Inactive")
				cause := p.Channel().CloseCause()
				var idle *tcp.IdleError
				if !errors.Is(cause, tcp.ErrIdle) || !errors.As(cause, &idle) || idle.After != time.Minute {
					t.Errorf("the cause is %v, want an *IdleError", cause)
				}
				if !idle.Timeout() {
					t.Errorf("%v is not a timeout", cause)
				}
			})
		})
	}
}

// TestNamesOfIdleKinds: each kind says what did not happen, and a number that is no kind is shown.
func TestNamesOfIdleKinds(t *testing.T) {
	for kind, want := range map[tcp.IdleKind]string{
		tcp.ReadIdle: "nothing was read", tcp.WriteIdle: "nothing was sent", tcp.AllIdle: "nothing was read or sent", 3: "IdleKind(3)", 255: "IdleKind(255)",
	} {
		coretest.Want(t, "the name", kind.String(), want)
	}
}
