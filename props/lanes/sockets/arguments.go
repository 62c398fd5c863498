//go:build linux

package sockets

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"eventide/core"
	"eventide/core/tcp"
)

// edgeCall is a call whose arguments are at the edge of what is permitted. If they are permitted, it must
// succeed, and gives back what it made. Otherwise it must return an error, and must have no effect.
// some reports whether a result other than the error is not zero.
type edgeCall struct {
	name      string
	permitted bool
	call      func(r *run) (some bool, err error)
}

// edgeCalls and badBlockingCalls are what Program.BadCall is an index of.
var edgeCalls = slices.Concat(badCalls, atBounds)

const anyPort = "127.0.0.1:0"

// nobody is a handler for channels that never become active.
type nobody struct{ tcp.HandlerBase }

// badCalls has calls with one bad argument each.
var badCalls = append([]edgeCall{
	listens("without a boss", func(r *run) (*tcp.Listener, error) { return tcp.Listen(nil, r.workers, anyPort, r.newHandler) }),
	listens("without workers", func(r *run) (*tcp.Listener, error) { return tcp.Listen(r.boss, nil, anyPort, r.newHandler) }),
	listens("without handlers", func(r *run) (*tcp.Listener, error) { return tcp.Listen(r.boss, r.workers, anyPort, nil) }),
	listens("without a port", func(r *run) (*tcp.Listener, error) { return tcp.Listen(r.boss, r.workers, "127.0.0.1", r.newHandler) }),
	listens("at port 65536", func(r *run) (*tcp.Listener, error) {
		return tcp.Listen(r.boss, r.workers, "127.0.0.1:65536", r.newHandler)
	}),
	listens("at an address in use", func(r *run) (*tcp.Listener, error) {
		return tcp.Listen(r.boss, r.workers, r.listener.Addr().String(), r.newHandler)
	}),
	futures("Dial without loops", func(r *run) *core.Future[*tcp.Channel] {
		return tcp.DialAsync(context.Background(), nil, anyPort, nobody{})
	}),
	futures("Dial without a handler", func(r *run) *core.Future[*tcp.Channel] {
		return tcp.DialAsync(context.Background(), r.workers, anyPort, nil)
	}),
	futures("Dial to a port without a listener", func(r *run) *core.Future[*tcp.Channel] {
		return tcp.DialAsync(context.Background(), r.workers, "127.0.0.1:1", nobody{})
	}),
	futures("Dial with a context that has ended", func(r *run) *core.Future[*tcp.Channel] {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return tcp.DialAsync(ctx, r.workers, r.listener.Addr().String(), nobody{})
	}),
	futures("Embed without a loop", func(*run) *core.Future[*tcp.Channel] { return tcp.Embed(nil, &embedded{}, nobody{}) }),
	futures("Embed without a socket", func(r *run) *core.Future[*tcp.Channel] { return tcp.Embed(r.loop(), nil, nobody{}) }),
	futures("Embed without a handler", func(r *run) *core.Future[*tcp.Channel] { return tcp.Embed(r.loop(), &embedded{}, nil) }),
	{name: "Broadcast without channels", call: func(*run) (bool, error) { return broadcasts(tcp.Broadcast(nil, nil, tcp.SkipUnwritable)) }},
	{name: "Broadcast with an unknown policy", call: func(r *run) (bool, error) {
		return broadcasts(tcp.Broadcast(tcp.Channels(r.workers), nil, tcp.StopAtUnwritable+1))
	}},
	{name: "Quiesce without loops", call: func(*run) (bool, error) { return false, tcp.Quiesce(context.Background(), nil) }},
}, withBadOptions()...)

func listens(what string, listen func(*run) (*tcp.Listener, error)) edgeCall {
	return edgeCall{name: "Listen " + what, call: func(r *run) (bool, error) {
		l, err := listen(r)
		return l != nil, err
	}}
}

func futures(what string, call func(*run) *core.Future[*tcp.Channel]) edgeCall {
	return edgeCall{name: what, call: func(r *run) (bool, error) {
		ch, err := call(r).Wait(context.Background())
		return ch != nil, err
	}}
}

func broadcasts(sent tcp.BroadcastResult, err error) (bool, error) {
	return sent != tcp.BroadcastResult{}, err
}

// withBadOptions returns calls of Listen and Dial with an option outside of its bounds.
func withBadOptions() (calls []edgeCall) {
	for what, option := range map[string]tcp.Option{
		"a low mark of 0":               tcp.WithWriteBufferWaterMarks(0, 1),
		"a high mark below the low one": tcp.WithWriteBufferWaterMarks(2, 1),
		"a high mark that overflows":    tcp.WithWriteBufferWaterMarks(1, math.MaxInt),
		"a write spin of 0":             tcp.WithWriteSpin(0),
		"a read buffer of 0":            tcp.WithReadBuffer(0),
		"a read buffer that is large":   tcp.WithReadBuffer(tcp.MaxReadBuffer + 1),
		"a negative receive buffer":     tcp.WithSocketBuffers(-1, 0),
		"a negative send buffer":        tcp.WithSocketBuffers(0, -1),
		"a large receive buffer":        tcp.WithSocketBuffers(math.MaxInt32/2+1, 0),
		"a large send buffer":           tcp.WithSocketBuffers(0, math.MaxInt32/2+1),
		"a negative linger":             tcp.WithLinger(-1),
		"a negative keep-alive":         tcp.WithKeepAlive(-1),
		"a long keep-alive":             tcp.WithKeepAlive(32767*time.Second + 1),
		"a backlog of 0":                tcp.WithBacklog(0),
		"a backlog that overflows":      tcp.WithBacklog(math.MaxInt32),
		"a negative read timeout":       tcp.WithIdleTimeouts(-1, 0, 0),
		"a negative write timeout":      tcp.WithIdleTimeouts(0, -1, 0),
		"a negative timeout of all":     tcp.WithIdleTimeouts(0, 0, -1),
	} {
		calls = append(calls,
			listens("with "+what, func(r *run) (*tcp.Listener, error) {
				return tcp.Listen(r.boss, r.workers, anyPort, r.newHandler, option)
			}),
			futures("Dial with "+what, func(r *run) *core.Future[*tcp.Channel] {
				return tcp.DialAsync(context.Background(), r.workers, r.listener.Addr().String(), nobody{}, option)
			}))
	}
	slices.SortFunc(calls, func(a, b edgeCall) int { return strings.Compare(a.name, b.name) })
	return calls
}

func (r *run) loop() *core.EventLoop {
	loop, _ := r.workers.Next().(*core.EventLoop)
	return loop
}

// makeEdgeCall makes the call at an edge of the program, if there is one.
func (r *run) makeEdgeCall() {
	all := edgeCalls
	if r.group != nil {
		all = badBlockingCalls
	}
	if r.p.BadCall < 0 || r.p.BadCall >= len(all) || r.addr == nil {
		return
	}
	edge := all[r.p.BadCall]
	before := r.sockets()
	some, err := edge.call(r)
	switch {
	case edge.permitted && err != nil:
		r.violate("%s: %v, want success: the argument is permitted", edge.name, err)
	case !edge.permitted && (some || err == nil):
		r.violate("%s: some result is not zero: %v, the error is %v, want no result and an error", edge.name, some, err)
	}
	if after := r.sockets(); after != before {
		r.violate("%s: %d sockets are open after the call, want %d as before", edge.name, after, before)
	}
}

// sockets returns how many sockets of core are open.
func (r *run) sockets() (n int) {
	for _, kind := range r.k.Open() {
		if strings.HasSuffix(kind, ".socket") {
			n++
		}
	}
	return n
}
