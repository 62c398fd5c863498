//go:build linux && shadow

package sockets

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
)

// The tests of this file are made for chosen schedules: each runs one generated program in a bubble
// of testing/synctest. There operations take no time, and timers expire only when every goroutine
// waits, under a chosen schedule too. So the judge is that of the lane, and needs no tolerance.

// TestScheduleDrawn runs a crowded program of core/tcp, on pollers that park, spin before they park, or
// block in epoll_wait. The interleave command chooses the seed of package rand, and so the program.
func TestScheduleDrawn(t *testing.T) {
	runScheduled(t, CrowdedPrograms("").Example(int(rand.Uint64()>>1)))
}

// TestScheduleDrawnBlocking runs a crowded program of core/blocking.
func TestScheduleDrawnBlocking(t *testing.T) {
	runScheduled(t, CrowdedPrograms(Blocking).Example(int(rand.Uint64()>>1)))
}

// TestScheduleAccepted runs a program of a connection that core accepts.
func TestScheduleAccepted(t *testing.T) { runDense(t, Conn{}) }

// TestScheduleDialled runs a program of a connection that core dials.
func TestScheduleDialled(t *testing.T) { runDense(t, Conn{Dialled: true}) }

// TestScheduleEmbedded runs a program of a connection that is given to tcp.Embed.
func TestScheduleEmbedded(t *testing.T) { runDense(t, Conn{Embedded: true}) }

// TestScheduleBroadcast runs a program in which broadcasts meet a connection that opens.
func TestScheduleBroadcast(t *testing.T) {
	p := dense(Conn{At: 1})
	p.Conns[0].Writer, p.Conns[0].Handler, p.End.At = nil, nil, 5
	again := Action{Kind: "Broadcast", N: 1}
	p.Calls = []Call{{At: 1, Do: again, Then: []Action{again, again, again}}}
	runScheduled(t, p)
}

// runDense runs a dense program with a connection that is made as how says.
func runDense(t *testing.T, how Conn) {
	runScheduled(t, dense(how))
}

// runScheduled runs p in a bubble, and fails for what it violates.
func runScheduled(t *testing.T, p Program) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		found, err := Run(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			t.Fatalf("%s\nprogram  %v", strings.Join(found, "\n"), p)
		}
	})
}

// dense returns a program in which everything happens at once: one connection, whose peer
// writes, ends and closes while other goroutines write and flush, and while the group is shut down.
func dense(how Conn) Program {
	how.CloseOnEnd = true
	how.Writer = []PeerStep{{Kind: "send", N: 100, Wait: 1}, {Kind: "end"}}
	how.Reader = []PeerStep{{Kind: "drain"}}
	how.Handler = []Reaction{{On: "Read", Nth: 1, Do: Action{Kind: "WriteAndFlush", N: 400}}}
	return Program{
		Workers: 1, BadCall: -1,
		Options: Options{Low: 50, High: 200, Spin: 1, ReadBuffer: 1000, Linger: -1, Backlog: 8, KeepAlive: -1, CloseTimeout: -1},
		Kernel:  Machine{Send: 300, Receive: 300},
		Conns:   []Conn{how},
		Calls: []Call{
			{At: 1, Do: Action{Kind: "WriteAndFlush", N: 30}}, {At: 1, Do: Action{Kind: "Write", N: 100}}, {At: 1, Do: Action{Kind: "Flush"}},
		},
		End: End{At: 1, Timeout: 100},
	}
}
