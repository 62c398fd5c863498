package blocking_test

import (
	"context"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/process"
)

// TestG23GroupIsAnExecutorOfAPlan: the exit of a process drains its channels.
func TestG23GroupIsAnExecutorOfAPlan(t *testing.T) {
	g := newGroup(t, 0)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	peer := make(chan string, 1)
	code := process.Run(t.Context(), process.Plan{
		Signals: []os.Signal{},
		Start: func(ctx context.Context) error {
			go func() { _ = g.Serve(ln, func() blocking.Handler { return shouter{} }) }()
			conn, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				return err
			}
			if _, err := conn.Write([]byte("hello")); err != nil {
				return err
			}
			first := make([]byte, 1) // so the channel is there when the exit begins
			if _, err := io.ReadFull(conn, first); err != nil {
				return err
			}
			go func() {
				rest, _ := io.ReadAll(conn)
				_ = conn.Close()
				peer <- string(first) + string(rest)
			}()
			return nil
		},
		Steps: []process.Step{{Name: "channels", Executor: g, Timeout: long}},
	})
	if got := <-peer; code != 0 || got != "hello!" {
		t.Errorf("G23: exit code %d, the peer got %q; want 0, hello!", code, got)
	}
	if report := g.Termination().Report(); report.ChannelsDrained != 1 || g.State() != core.StateTerminated {
		t.Errorf("G23: %v, %+v; want Terminated and a drained channel", g.State(), report)
	}
}

// TestG23PlanWithAShortDeadlineDrains: an exit that has little time uses it. The peer takes
// a quarter of it, in virtual time, since a busy machine would take the rest.
func TestG23PlanWithAShortDeadlineDrains(t *testing.T) {
	const deadline, parts, part = time.Second, 128, 64 << 10
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 0)
		ours, theirs := net.Pipe()
		ch := mustRegister(t, g, ours, &handler{})
		ch.Write(make([]byte, parts*part))
		received := make(chan int, 1)
		go func() {
			n := 0
			for buf := make([]byte, part); ; time.Sleep(deadline / 4 / parts) {
				got, err := io.ReadFull(theirs, buf)
				n += got
				if err != nil {
					received <- n
					return
				}
			}
		}()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := process.RunReport(ctx, process.Plan{
			Signals:  []os.Signal{},
			Deadline: deadline,
			Steps:    []process.Step{{Name: "channels", Executor: g}},
		})
		_ = theirs.Close()
		got, work := <-received, r.Steps[0].Work
		// A pipe cannot half-close, so the peer's end is not seen and the channel counts as aborted.
		if got != parts*part || work.ChannelsAborted != 1 || work.BytesDiscarded != 0 || work.TimedOut || r.Code != 0 {
			t.Errorf("G23: with a Deadline of %v the peer got %d of %d bytes, exit code %d, report %+v; want all, 0, none discarded, in time", deadline, got, parts*part, r.Code, work)
		}
	})
}
