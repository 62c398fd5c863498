package blocking_test

import (
	"context"
	"io"
	"net"
	"os"
	"testing"
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

// TestG23PlanWithAShortDeadlineDrains: an exit that has little time uses it.
func TestG23PlanWithAShortDeadlineDrains(t *testing.T) {
	const size = 8 << 20
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	ch := mustRegister(t, g, ours, &handler{})
	ch.Write(make([]byte, size))
	peer := receive(theirs, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := process.RunReport(ctx, process.Plan{
		Signals:  []os.Signal{},
		Deadline: time.Second,
		Steps:    []process.Step{{Name: "channels", Executor: g}},
	})
	await(t, "the peer", peer.over)
	if work := r.Steps[0].Work; len(peer.got) != size || work.ChannelsDrained != 1 || work.BytesDiscarded != 0 || r.Code != 0 {
		t.Errorf("G23: with a Deadline of 1 s the peer got %d of %d bytes, exit code %d, report %+v; want all, 0, 1 drained", len(peer.got), size, r.Code, work)
	}
}
