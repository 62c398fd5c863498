package tcp_test

import (
	"testing"
	"time"

	"eventide/core/tcp"
)

// TestG22IsOpenEndsWithTheCall: who has asked for the end, in whichever way, sees the
// channel closing at once, and not when the loop comes to it; and that it is not
// writable for that is not told to the handler (R224).
func TestG22IsOpenEndsWithTheCall(t *testing.T) {
	for name, end := range map[string]func(p *pair){
		"Close":              func(p *pair) { p.ch.Close() },
		"CloseGracefully":    func(p *pair) { p.ch.CloseGracefully(time.Time{}) },
		"ShutdownGracefully": func(p *pair) { _, _ = p.group.ShutdownGracefully(0, hangGuard) },
		"Shutdown":           func(p *pair) { p.group.Shutdown() },
	} {
		for _, before := range []string{"writable", "unwritable"} {
			t.Run(name+", "+before, func(t *testing.T) {
				checkLeaks(t)
				p := newPair(t, nil, tcp.WithWriteBufferWaterMarks(1, 1))
				events := "Active"
				if before == "unwritable" {
					p.ch.Write([]byte("abc"))
					p.await(t, "WritabilityChanged")
					events += " WritabilityChanged"
				}
				if !p.ch.IsOpen() || p.ch.IsWritable() != (before == "writable") {
					t.Errorf("IsOpen %v and IsWritable %v before the end", p.ch.IsOpen(), p.ch.IsWritable())
				}
				held, release := make(chan struct{}), make(chan struct{})
				flushed := make(chan error, 1) // on the loop, between the call and the end
				if err := p.ch.EventLoop().Execute(func() {
					close(held)
					<-release
					flushed <- p.ch.WriteAndFlush([]byte("still accepted on the loop")).Err()
				}); err != nil {
					t.Fatal(err)
				}
				await(t, "the task", held)
				end(p)
				if p.ch.IsOpen() || p.ch.IsWritable() || p.ch.BytesBeforeUnwritable() != 0 || p.ch.BytesBeforeWritable() != 0 {
					t.Errorf("G22: IsOpen %v, IsWritable %v, %d bytes before unwritable and %d before writable; want false, false, 0, 0",
						p.ch.IsOpen(), p.ch.IsWritable(), p.ch.BytesBeforeUnwritable(), p.ch.BytesBeforeWritable())
				}
				close(release)
				wantErr(t, "G22: a write on the loop, which has not come to the end yet", <-flushed, nil)
				_, _ = readAll(p.peer)
				_ = p.peer.Close()
				p.await(t, "Unregistered")
				wantLog(t, "R224: events", p.String(), events+" Inactive Unregistered")
			})
		}
	}
}
