//go:build linux

package sockets

import (
	"maps"
	"slices"

	"eventide/props/lanes/sockets/kernel"

	"pgregory.net/rapid"
)

// Programs generates programs.
func Programs() *rapid.Generator[Program] { return rapid.Custom(drawProgram) }

// BlockingPrograms generates programs of core/blocking.
func BlockingPrograms() *rapid.Generator[Program] {
	return rapid.Custom(func(t *rapid.T) Program { return drawOver(t, Blocking) })
}

func drawProgram(t *rapid.T) Program { return drawOver(t, "") }

// lastEvent bounds the times of a program, in milliseconds.
const lastEvent = 40

func drawOver(t *rapid.T, transport string) Program {
	calls, inside, outside := len(edgeCalls), inHandlers, byOthers
	if transport == Blocking {
		calls, inside, outside = len(badBlockingCalls), inBlockingHandlers, byOthersBlocking
	}
	inside, outside = drawFew(t, inside), drawFew(t, outside)
	p := Program{
		Transport: transport,
		Workers:   rapid.IntRange(1, 2).Draw(t, "workers"),
		Boss:      rapid.Bool().Draw(t, "boss"),
		OnLoop:    rapid.Bool().Draw(t, "on a loop"),
		Blocking:  rapid.Bool().Draw(t, "blocking"),
		Pending:   rapid.SampledFrom([]int{0, 0, 0, 0, 1, 3}).Draw(t, "pending"),
		Aborts:    oneIn(t, 8, "aborts"),
		Options:   drawOptions(t),
		Kernel:    drawMachine(t, transport),
		BadCall:   rapid.IntRange(-1, calls-1).Draw(t, "bad call"),
		End: End{
			At: drawEnd(t), Now: oneIn(t, 5, "now"),
			Quiet: rapid.SampledFrom([]int{0, 0, 2, 20}).Draw(t, "quiet"), Timeout: rapid.SampledFrom([]int{100, 100, 3000, 20}).Draw(t, "timeout"),
		},
	}
	n := rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "conns")
	sizes := sizesOf(p)
	for range n {
		p.Conns = append(p.Conns, drawConn(t, sizes, inside))
	}
	if transport == Blocking {
		drawBlocking(t, &p)
	} else {
		p.Spin = rapid.SampledFrom([]int{0, 0, 1, 5, 60}).Draw(t, "spin of the poller")
	}
	p.Calls = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Call {
		return Call{
			At: drawTime(t), Conn: rapid.IntRange(0, n-1).Draw(t, "conn"), Do: drawAction(t, sizes, outside),
			Then: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Action { return drawAction(t, sizes, outside) }), 0, 2).Draw(t, "then"),
		}
	}), 0, 6).Draw(t, "calls")
	if oneIn(t, 3, "at the same times") {
		p.bunch()
	}
	return p
}

// bunch moves the events of a program to a few times, so that several happen at the same time.
func (p *Program) bunch() {
	const apart = 5
	for i := range p.Calls {
		p.Calls[i].At -= p.Calls[i].At % apart
	}
	for i := range p.Conns {
		c := &p.Conns[i]
		c.At -= c.At % apart
		for _, steps := range [][]PeerStep{c.Writer, c.Reader} {
			for j := range steps {
				steps[j].Wait -= steps[j].Wait % apart
			}
		}
	}
}

// drawFew mostly returns a few kinds of actions: calls that follow each other are more often of one
// kind then, or of two that belong together.
func drawFew(t *rapid.T, kinds []string) []string {
	if oneIn(t, 3, "all kinds") {
		return kinds
	}
	return rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 4).Draw(t, "kinds")
}

func oneIn(t *rapid.T, n int, label string) bool { return rapid.IntRange(1, n).Draw(t, label) == n }

// drawEnd mostly ends a program among its events. A later end leaves time in which channels
// are idle, and in which a channel that has to close must do so.
func drawEnd(t *rapid.T) int {
	if oneIn(t, 4, "late end") {
		return 3 * lastEvent
	}
	return rapid.IntRange(0, lastEvent).Draw(t, "end")
}

func drawTime(t *rapid.T) int { return rapid.IntRange(0, lastEvent).Draw(t, "at") }

func drawOptions(t *rapid.T) Options {
	marks := rapid.SampledFrom([][2]int{{1, 1}, {50, 200}, {1000, 3000}, {9000, 20000}, {32 << 10, 64 << 10}}).Draw(t, "marks")
	o := Options{
		Low: marks[0], High: marks[1],
		Spin:        rapid.SampledFrom([]int{1, 2, 16}).Draw(t, "spin"),
		ReadBuffer:  rapid.SampledFrom([]int{1, 100, 1000, 64 << 10}).Draw(t, "read buffer"),
		Recv:        rapid.SampledFrom([]int{0, 0, 0, 500}).Draw(t, "recv"),
		Send:        rapid.SampledFrom([]int{0, 0, 0, 500}).Draw(t, "send"),
		Linger:      rapid.SampledFrom([]int{-1, -1, -1, 0, shortestLinger, 5, 50}).Draw(t, "linger"),
		HalfClosure: oneIn(t, 3, "half closure"),
		IdleHandler: rapid.Bool().Draw(t, "idle handler"),
		Backlog:     rapid.SampledFrom([]int{1, 4096}).Draw(t, "backlog"),
		Delay:       oneIn(t, 4, "delay"),
		KeepAlive:   rapid.SampledFrom([]int{-1, -1, 0, 1, 999, 1000, 1001, 15_000}).Draw(t, "keep-alive"),
		KeepsAddr:   oneIn(t, 4, "keeps address"),
		ReusePort:   oneIn(t, 4, "reuse port"),
	}
	if oneIn(t, 4, "listens elsewhere") {
		o.At = rapid.SampledFrom(addresses).Draw(t, "address")
	}
	if oneIn(t, 8, "bad logger") {
		o.Logger = rapid.SampledFrom(badLoggers).Draw(t, "what the logger does")
		o.LoggerNth = rapid.IntRange(1, 2).Draw(t, "which record")
	}
	if oneIn(t, 10, "bad handler") {
		o.BadHandler = rapid.SampledFrom(badHandlers).Draw(t, "what newHandler does")
		o.BadNth = rapid.IntRange(1, 2).Draw(t, "which call of newHandler")
	}
	if oneIn(t, 3, "idle") {
		for kind := range o.Idle {
			o.Idle[kind] = rapid.SampledFrom([]int{0, 3, 17}).Draw(t, "idle timeout")
		}
	}
	return o
}

func drawMachine(t *rapid.T, transport string) Machine {
	m := Machine{
		Send:    rapid.SampledFrom([]int{0, 1, 300, 4000, 20000}).Draw(t, "send buffer"),
		Receive: rapid.SampledFrom([]int{0, 1, 300, 4000, 20000}).Draw(t, "receive buffer"),
		Latency: rapid.SampledFrom([]int{0, 0, 3, 5, 21}).Draw(t, "latency"), // a handshake takes 1 ms with 5
	}
	if oneIn(t, 6, "few files") {
		m.Files = rapid.IntRange(1, 4).Draw(t, "files")
	}
	if oneIn(t, 3, "faults") {
		m.Faults = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) kernel.Fault { return drawFault(t, transport) }), 1, 3).Draw(t, "list of faults")
	}
	if transport == Blocking {
		return m
	}
	noMemory := slices.ContainsFunc(m.Faults, func(f kernel.Fault) bool { return f.Op == kernel.OpAdd })
	if oneIn(t, 8, "rebuilds") && m.Files == 0 && !noMemory { // else the rebuild can fail, and ends the loop
		m.Faults = append(m.Faults, kernel.Fault{Op: kernel.OpWait, Nth: rapid.IntRange(1, 30).Draw(t, "nth"), Errno: errRebuilds})
	}
	if oneIn(t, 8, "before") {
		m.Before = rapid.SliceOfN(rapid.Custom(drawBefore), 1, 2).Draw(t, "faults before")
	}
	return m
}

// drawBefore draws a fault of a call that makes a group or a listener.
func drawBefore(t *rapid.T) kernel.Fault {
	op := rapid.SampledFrom(slices.Sorted(maps.Keys(faultyBefore))).Draw(t, "op")
	return kernel.Fault{
		Op: op, Nth: rapid.IntRange(1, 3).Draw(t, "nth"), Errno: rapid.SampledFrom(faultyBefore[op]).Draw(t, "errno"),
	}
}

func drawFault(t *rapid.T, transport string) kernel.Fault {
	last, errnos := faultsOf(transport)
	op := kernel.Op(rapid.IntRange(0, int(last)).Draw(t, "op"))
	if oneIn(t, 5, "of accept") { // the listener has states of its own
		op = kernel.OpAccept
	}
	f := kernel.Fault{
		Op: op, Nth: rapid.IntRange(1, 8).Draw(t, "nth"), Errno: rapid.SampledFrom(errnos(op)).Draw(t, "errno"),
		Times: rapid.SampledFrom([]int{1, 1, 1, 2, 5, 200}).Draw(t, "times"),
	}
	if f.Errno == 0 {
		f.Short = rapid.SampledFrom([]int{1, 10, 100}).Draw(t, "short")
	}
	return f
}

// sizesOf returns the numbers of bytes at which the behaviour of a channel changes, and their
// neighbours.
func sizesOf(p Program) []int {
	if p.Kernel.Send == 1 || p.Kernel.Receive == 1 {
		return []int{0, 1, 2, 30, 300} // each byte is a system call
	}
	all := []int{0, 1, 2, 100, 8 << 10}
	for _, n := range []int{p.Options.Low, p.Options.High, p.Kernel.Send, p.Kernel.Receive, p.Options.ReadBuffer, 8 << 10} {
		if n > 1 && n <= 30_000 {
			all = append(all, n-1, n, n+1)
		}
	}
	return append(all, 3000, 25_000)
}

func drawConn(t *rapid.T, sizes []int, kinds []string) Conn {
	c := Conn{
		At:         rapid.IntRange(0, 10).Draw(t, "at"),
		Dialled:    oneIn(t, 3, "dialled"),
		Embedded:   oneIn(t, 5, "embedded"),
		Send:       rapid.SampledFrom([]int{0, 0, 200, 5000}).Draw(t, "peer's send buffer"),
		Recv:       rapid.SampledFrom([]int{0, 0, 200, 5000}).Draw(t, "peer's receive buffer"),
		Waits:      rapid.Bool().Draw(t, "waits"),
		Silent:     oneIn(t, 6, "silent"),
		Named:      oneIn(t, 3, "named"),
		Refusing:   rapid.IntRange(0, 2).Draw(t, "refusing addresses"),
		Lookup:     rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "look-up"),
		Unknown:    oneIn(t, 8, "unknown"),
		DialFor:    rapid.SampledFrom([]int{0, 0, 0, 1, 2, 20}).Draw(t, "dial for"),
		CloseOnEnd: !oneIn(t, 4, "stays"),
		Echo:       oneIn(t, 3, "echo"),
		IPv6:       rapid.Bool().Draw(t, "IPv6"),
	}
	c.Writer = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) PeerStep {
		return PeerStep{
			Wait: rapid.SampledFrom([]int{0, 0, 1, 5, 20}).Draw(t, "wait"),
			Kind: rapid.SampledFrom([]string{"send", "send", "send", "send", "end", "close", "reset"}).Draw(t, "step"),
			N:    rapid.SampledFrom(sizes).Draw(t, "n"),
		}
	}), 0, 5).Draw(t, "writer")
	c.Reader = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) PeerStep {
		return PeerStep{
			Wait: rapid.SampledFrom([]int{0, 0, 1, 5, 20}).Draw(t, "wait"),
			Kind: "read",
			N:    rapid.SampledFrom(sizes).Draw(t, "n"),
		}
	}), 0, 3).Draw(t, "reader")
	if !oneIn(t, 5, "stalls") {
		c.Reader = append(c.Reader, PeerStep{Kind: "drain", Wait: rapid.SampledFrom([]int{0, 0, 10}).Draw(t, "wait")})
	}
	c.Handler = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Reaction {
		return drawReaction(t, rapid.SampledFrom(reactsTo).Draw(t, "on"), sizes, kinds)
	}), 0, 4).Draw(t, "handler")
	if oneIn(t, 6, "reacts to everything") {
		for _, on := range slices.Compact(slices.Clone(reactsTo)) {
			c.Handler = append(c.Handler, drawReaction(t, on, sizes, kinds))
		}
	}
	return c
}

// reactsTo lists the events to which handlers react; the first ones come in most programs.
var reactsTo = []string{"Active", "Active", "Read", "Read", "ReadComplete", "WritabilityChanged", "InputShutdown", "Idle", "Inactive", "Unregistered", "Error", "written"}

func drawReaction(t *rapid.T, on string, sizes []int, kinds []string) Reaction {
	r := Reaction{On: on, Nth: rapid.SampledFrom([]int{1, 1, 1, 2, 0}).Draw(t, "nth"), Do: drawAction(t, sizes, kinds)}
	r.Do.Elsewhere = oneIn(t, 4, "elsewhere")
	if (on == "Inactive" || on == "Unregistered") && oneIn(t, 4, "fails at the end") {
		r.Do.Kind, r.Do.Elsewhere = rapid.SampledFrom([]string{"Panic", "Goexit"}).Draw(t, "failure"), false
	}
	return r
}

// The kinds of actions. Channels of both packages have those of common.
var (
	common             = []string{"Write", "Write", "WriteAndFlush", "WriteAndFlush", "WriteAndFlush", "Flush", "Flush", "Close", "CloseGracefully", "Task", "Timer"}
	ofTCPOnly          = []string{"CloseOutput", "Hold", "Answer", "Pause", "Resume", "Broadcast", "Look", "List", "CloseListener"}
	inHandlers         = slices.Concat(common, ofTCPOnly, []string{"Panic", "Goexit", "Blocking"})
	byOthers           = slices.Concat(common, ofTCPOnly, []string{"Quiesce", "Fill"})
	inBlockingHandlers = slices.Concat(common, []string{"Panic", "Goexit", "Blocking", "Look"})
	byOthersBlocking   = slices.Concat(common, []string{"Fill", "Look"})
)

func drawAction(t *rapid.T, sizes []int, kinds []string) Action {
	return Action{
		Kind: rapid.SampledFrom(kinds).Draw(t, "action"),
		N:    rapid.SampledFrom(sizes).Draw(t, "n"),
		Wait: rapid.SampledFrom([]int{0, 1, 4, 30}).Draw(t, "pause"),
	}
}

// drawBlocking draws the parts that only programs of core/blocking have.
func drawBlocking(t *rapid.T, p *Program) {
	p.Options.Linger = -1
	p.Watched = oneIn(t, 4, "watched")
	p.Options.CloseTimeout = rapid.SampledFrom([]int{-1, 0, 5, 30}).Draw(t, "close timeout")
	p.Options.Handshake = rapid.SampledFrom([]int{0, 1, 5}).Draw(t, "handshake timeout")
	for i := range p.Conns {
		c := &p.Conns[i]
		c.Kind = rapid.SampledFrom([]string{kindTCP, kindTCP, kindPlain, kindPipe, kindTLS, kindOdd}).Draw(t, "kind")
		c.Lingers = rapid.Bool().Draw(t, "lingers")
		if rapid.Bool().Draw(t, "late") { // an executor may have served another connection by then
			c.At = drawTime(t)
		}
		switch c.Kind {
		case kindPipe:
			c.Unsupported = rapid.Bool().Draw(t, "unsupported")
		case kindTLS:
			c.Handshake = rapid.SampledFrom([]int{0, 1, 3, 20}).Draw(t, "handshake")
			c.HandshakeFails = oneIn(t, 5, "handshake fails")
		case kindOdd:
			c.Oddity = rapid.SampledFrom(oddities).Draw(t, "oddity")
			c.OddCall = rapid.IntRange(1, 3).Draw(t, "odd call")
		}
	}
}
