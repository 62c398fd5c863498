package tcp

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// optionSpec is an option as its doc comment describes it: each of its values is between low and high.
type optionSpec struct {
	name      string
	values    int
	low, high int64
	ordered   bool // no value may be less than the one before it
	duration  bool
	wrong     string // the text of the error, after the name, with a verb for each value
	with      func(v []int64) Option
	set       func(c *config, v []int64)
}

var quiet = slog.New(slog.DiscardHandler)

var optionSpecs = []optionSpec{
	{"WithWriteBufferWaterMarks", 2, 1, math.MaxInt - 1, true, false, "low is %v and high is %v, want 1 <= low <= high <= 9223372036854775806",
		func(v []int64) Option { return WithWriteBufferWaterMarks(int(v[0]), int(v[1])) },
		func(c *config, v []int64) { c.low, c.high = int(v[0]), int(v[1]) }},
	{"WithWriteSpin", 1, 1, math.MaxInt, false, false, "n is %v, want at least 1",
		func(v []int64) Option { return WithWriteSpin(int(v[0])) }, func(c *config, v []int64) { c.writeSpin = int(v[0]) }},
	{"WithReadBuffer", 1, 1, 1 << 30, false, false, "size is %v, want 1 to 1073741824",
		func(v []int64) Option { return WithReadBuffer(int(v[0])) }, func(c *config, v []int64) { c.readBuffer = int(v[0]) }},
	{"WithSocketBuffers", 2, 0, math.MaxInt32 / 2, false, false, "receive is %v and send is %v, want 0 to 1073741823",
		func(v []int64) Option { return WithSocketBuffers(int(v[0]), int(v[1])) },
		func(c *config, v []int64) { c.recv, c.send = int(v[0]), int(v[1]) }},
	{"WithLinger", 1, 0, math.MaxInt64, false, true, "d is %v, want 0 or more",
		func(v []int64) Option { return WithLinger(time.Duration(v[0])) },
		func(c *config, v []int64) { c.linger, c.lingers = time.Duration(v[0]), true }},
	{"WithKeepAlive", 1, 0, 32767 * int64(time.Second), false, true, "period is %v, want 0 to 9h6m7s",
		func(v []int64) Option { return WithKeepAlive(time.Duration(v[0])) },
		func(c *config, v []int64) { c.keepAlive = time.Duration(v[0]) }},
	{"WithBacklog", 1, 1, math.MaxInt32 - 1, false, false, "n is %v, want 1 to 2147483646",
		func(v []int64) Option { return WithBacklog(int(v[0])) }, func(c *config, v []int64) { c.backlog = int(v[0]) }},
	{"WithIdleTimeouts", 3, 0, math.MaxInt64, false, true, "read is %v, write is %v and all is %v, want 0 or more",
		func(v []int64) Option {
			return WithIdleTimeouts(time.Duration(v[0]), time.Duration(v[1]), time.Duration(v[2]))
		},
		func(c *config, v []int64) {
			c.idle = [3]time.Duration{time.Duration(v[0]), time.Duration(v[1]), time.Duration(v[2])}
		}},
	flagSpec("WithNoDelay", WithNoDelay, func(c *config, on bool) { c.delay = !on }),
	flagSpec("WithHalfClosure", WithHalfClosure, func(c *config, on bool) { c.halfClosure = on }),
	flagSpec("WithReuseAddr", WithReuseAddr, func(c *config, on bool) { c.noReuseAddr = !on }),
	flagSpec("WithReusePort", WithReusePort, func(c *config, on bool) { c.reusePort = on }),
	flagSpec("WithLogger", func(on bool) Option { return WithLogger(quietIf(on)) }, func(c *config, on bool) { c.logger = quietIf(on) }),
	flagSpec("nil", func(bool) Option { return nil }, func(*config, bool) {}),
}

// flagSpec is an option without a bad value.
func flagSpec(name string, with func(bool) Option, set func(*config, bool)) optionSpec {
	return optionSpec{name, 1, math.MinInt64, math.MaxInt64, false, false, "",
		func(v []int64) Option { return with(v[0] > 0) }, func(c *config, v []int64) { set(c, v[0] > 0) }}
}

func quietIf(on bool) *slog.Logger {
	if on {
		return quiet
	}
	return nil
}

// draw draws values at, inside and outside of the bounds, and returns the error that they must get, or "".
func (o optionSpec) draw(t *rapid.T) (v []int64, wrong string) {
	ok, args := true, make([]any, o.values)
	for i := range o.values {
		near := []int64{o.low - 1, o.low, o.low + 1, o.high - 1, o.high, o.high + 1, 0, 1, -1, math.MinInt64, math.MaxInt64, 1<<32 + 1}
		v = append(v, rapid.SampledFrom(near).Draw(t, o.name))
		ok = ok && o.low <= v[i] && v[i] <= o.high && (!o.ordered || i == 0 || v[i-1] <= v[i])
		if args[i] = v[i]; o.duration {
			args[i] = time.Duration(v[i])
		}
	}
	if ok {
		return v, ""
	}
	return v, "tcp: " + o.name + ": " + fmt.Sprintf(o.wrong, args...)
}

// arguments are those of one call. A call that gets several mistakes returns the first, in the order in which
// they are drawn here.
type arguments struct {
	*rapid.T
	call       string
	mistakes   []string
	want       config // after the options
	group      *core.Group
	executors  *core.Group
	peer       net.Listener
	ctx        context.Context
	boss, work *core.Group
	loop       *core.EventLoop
	handler    Handler
	newHandler func() Handler
	opts       []Option
	addr       string
}

// is reports whether an argument is to be a mistake, which gets this text.
func (a *arguments) is(format string, values ...any) bool {
	if rapid.IntRange(0, 7).Draw(a.T, format) > 0 {
		return false
	}
	a.mistakes = append(a.mistakes, "tcp: "+a.call+": "+fmt.Sprintf(format, values...))
	return true
}

func (a *arguments) drawContext() {
	if a.ctx = context.Background(); a.is("ctx is nil, want a context") {
		a.ctx = nil
	}
}

func (a *arguments) drawGroup(name string) *core.Group {
	switch {
	case a.is("%s is nil, want event loops", name):
		return nil
	case a.is("%s is made of *core.Executor, want a group of event loops (core.NewGroup)", name):
		return a.executors
	}
	return a.group
}

func (a *arguments) drawLoop() {
	if a.loop = a.group.Next().(*core.EventLoop); a.is("loop is nil, want an event loop") {
		a.loop = nil
	}
}

// drawHandlers draws both kinds of handlers. One mistake is enough, since a call takes one kind.
func (a *arguments) drawHandlers(text string) {
	if a.handler, a.newHandler = (HandlerBase{}), func() Handler { return HandlerBase{} }; a.is("%s", text) {
		a.handler, a.newHandler = nil, nil
	}
}

func (a *arguments) drawOptions() {
	a.want = config{low: 32 << 10, high: 64 << 10, writeSpin: 16, readBuffer: 64 << 10, backlog: 4096, keepAlive: 15 * time.Second}
	for range rapid.IntRange(0, 3).Draw(a.T, "options") {
		o := rapid.SampledFrom(optionSpecs).Draw(a.T, "option")
		v, wrong := o.draw(a.T)
		if a.opts = append(a.opts, o.with(v)); wrong != "" {
			a.mistakes = append(a.mistakes, wrong)
		} else {
			o.set(&a.want, v)
		}
	}
}

// drawAddress draws an address that has no port, or no such port. The rest of its error is that of package net.
func (a *arguments) drawAddress(good string) {
	a.addr = good
	if rapid.IntRange(0, 3).Draw(a.T, "address") == 0 {
		a.addr = rapid.SampledFrom([]string{"127.0.0.1", "127.0.0.1:65536", "127.0.0.1:-1", "[::1", "::1:0:"}).Draw(a.T, "bad address")
		a.mistakes = append(a.mistakes, "tcp: "+a.call+" "+a.addr+": ")
	}
}

// TestPropArguments: each call and option returns an error for arguments outside of their documented bounds, which
// names the call, the value and what was expected, and has no effect then. Other arguments are accepted, and the
// channel or listener has the values of the options.
func TestPropArguments(t *testing.T) {
	coretest.CheckLeaks(t)
	group := coretest.NewGroup(t, 2)
	executors, err := core.NewExecutorGroup(1)
	coretest.Must(t, err)
	defer executors.Close()
	peer, err := net.Listen("tcp", "127.0.0.1:0")
	coretest.Must(t, err)
	defer peer.Close()
	check(t, func(r *rapid.T) {
		checkOptions(r)
		call := rapid.SampledFrom(argumentCalls).Draw(r, "call")
		a := &arguments{T: r, call: call.name, group: group, executors: executors, peer: peer}
		before := coretest.Descriptors(t)
		err := call.make(a)
		coretest.Until(t, "the end of all registrations", func() bool { return group.Stats().Registrations == 0 })
		switch {
		case len(a.mistakes) == 0 && err != nil:
			r.Fatalf("%s returned %q, want no error", call.name, err)
		case len(a.mistakes) == 0:
			return
		case err == nil, err.Error() != a.mistakes[0] && !(strings.HasSuffix(a.mistakes[0], ": ") && strings.HasPrefix(err.Error(), a.mistakes[0])):
			r.Fatalf("%s returned the error %v, want %q", call.name, err, a.mistakes[0])
		}
		if after := coretest.Descriptors(t); !slices.Equal(before, after) {
			r.Fatalf("G24: %s has failed, and there are the descriptors %q, before %q", call.name, after, before)
		}
	})
}

// checkOptions checks each option alone.
func checkOptions(t *rapid.T) {
	for _, o := range optionSpecs {
		for range 2 {
			v, wrong := o.draw(t)
			c, err := newConfig([]Option{o.with(v)})
			if wrong != "" {
				if c != nil || err == nil || err.Error() != wrong {
					t.Fatalf("%s of %d has the error %v, want %q", o.name, v, err, wrong)
				}
				continue
			}
			want, _ := newConfig(nil)
			if o.set(want, v); err != nil || *c != *want {
				t.Fatalf("%s of %d has the error %v and the result %+v, want none and %+v", o.name, v, err, c, want)
			}
		}
	}
}

// argumentCalls draw their arguments, in the order in which the call checks them, and close what they have made.
var argumentCalls = []struct {
	name string
	make func(a *arguments) error
}{
	{"Listen", func(a *arguments) error {
		a.boss, a.work = a.drawGroup("boss"), a.drawGroup("worker")
		if len(a.mistakes) > 0 {
			a.mistakes = []string{strings.Join(a.mistakes, "\n")} // both at once
		}
		a.drawListen()
		return a.listens(Listen(a.boss, a.work, a.addr, a.newHandler, a.opts...))
	}},
	{"ListenOn", func(a *arguments) error {
		a.drawLoop()
		a.drawListen()
		return a.listens(ListenOn(a.loop, a.addr, a.newHandler, a.opts...))
	}},
	{"Dial", func(a *arguments) error {
		a.drawContext()
		a.boss = a.drawGroup("group")
		a.drawDial()
		return a.dials(Dial(a.ctx, a.boss, a.addr, a.handler, a.opts...))
	}},
	{"DialOn", func(a *arguments) error {
		a.drawContext()
		a.drawLoop()
		a.drawDial()
		return a.dials(DialOn(a.ctx, a.loop, a.addr, a.handler, a.opts...))
	}},
	{"DialAsync", func(a *arguments) error {
		a.drawContext()
		a.boss = a.drawGroup("group")
		a.drawDial()
		return a.dials(DialAsync(a.ctx, a.boss, a.addr, a.handler, a.opts...).Wait(context.Background()))
	}},
	{"Embed", func(a *arguments) error {
		a.drawLoop()
		var socket Socket = unknownSocket{}
		if a.is("socket is nil, want a Socket") {
			socket = nil
		}
		a.drawHandlers("handler is nil, want a Handler")
		a.drawOptions()
		if len(a.mistakes) == 0 { // the poller of the loop does not know the socket
			a.mistakes = []string{"tcp: Embed: core: RegisterChannel: descriptor 1048576: "}
		}
		_, err := Embed(a.loop, socket, a.handler, a.opts...).Wait(context.Background())
		return err
	}},
	{"Broadcast", func(a *arguments) error {
		var channels iter.Seq[*Channel]
		if !a.is("channels is nil, want an iterator") {
			channels = Channels(a.group)
		}
		policy := rapid.SampledFrom([]BroadcastPolicy{SkipUnwritable, WriteUnwritable, CloseUnwritable, StopAtUnwritable}).Draw(a.T, "policy")
		if unknown := rapid.SampledFrom([]BroadcastPolicy{4, 5, 255}).Draw(a.T, "unknown policy"); a.is("policy is %d, want SkipUnwritable, WriteUnwritable, CloseUnwritable or StopAtUnwritable", unknown) {
			policy = unknown
		}
		sent, err := Broadcast(channels, nil, policy)
		if sent != (BroadcastResult{}) {
			a.Fatalf("Broadcast without channels has the result %+v", sent)
		}
		return err
	}},
	{"Quiesce", func(a *arguments) error {
		a.drawContext()
		g := a.drawGroup("group")
		if len(a.mistakes) == 0 {
			return nil // the loops would get no more input
		}
		return Quiesce(a.ctx, g)
	}},
	{"QuiesceOn", func(a *arguments) error {
		a.drawContext()
		if a.drawLoop(); len(a.mistakes) == 0 {
			return nil
		}
		return QuiesceOn(a.ctx, a.loop)
	}},
}

// unknownSocket is a Socket that no poller knows.
type unknownSocket struct{ Socket }

func (unknownSocket) FD() int                               { return 1 << 20 }
func (unknownSocket) Addrs() (local, remote netip.AddrPort) { return }

func (a *arguments) drawListen() {
	a.drawHandlers("newHandler is nil, want a function")
	a.drawOptions()
	a.drawAddress(rapid.SampledFrom([]string{"127.0.0.1:0", "", ":0", "localhost:0"}).Draw(a.T, "good address"))
}

func (a *arguments) drawDial() {
	a.drawHandlers("handler is nil, want a Handler")
	a.drawOptions()
	a.drawAddress(a.peer.Addr().String())
}

// listens checks the result of Listen, and closes the listener.
func (a *arguments) listens(l *Listener, err error) error {
	if (l == nil) != (err != nil) {
		a.Fatalf("%s returned the listener %v and the error %v", a.call, l, err)
	}
	if l == nil {
		return err
	}
	if *l.cfg != a.want {
		a.Fatalf("%s made a listener with %+v, want %+v", a.call, *l.cfg, a.want)
	}
	<-l.Close().Done()
	return err
}

// dials checks the result of Dial, and closes both ends.
func (a *arguments) dials(ch *Channel, err error) error {
	if (ch == nil) != (err != nil) {
		a.Fatalf("%s returned the channel %v and the error %v", a.call, ch, err)
	}
	if ch == nil {
		return err
	}
	if *ch.cfg != a.want {
		a.Fatalf("%s made a channel with %+v, want %+v", a.call, *ch.cfg, a.want)
	}
	conn, acceptErr := a.peer.Accept()
	<-ch.Close().Done()
	if acceptErr != nil || conn.Close() != nil {
		a.Fatalf("the peer: %v", acceptErr)
	}
	return err
}
