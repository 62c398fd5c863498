//go:build linux

package sockets

import (
	"encoding/json"
	"slices"
	"syscall"
	"time"

	"eventide/props/lanes/sockets/kernel"
)

// Program describes a run: connections between core and peers, calls of channels, and a shutdown
// at the end. Times are milliseconds of virtual time from the start.
type Program struct {
	Transport string // "" is core/tcp, and Blocking core/blocking
	Workers   int
	Boss      bool // the listener has a loop of its own
	OnLoop    bool // the calls for one loop (ListenOn, DialOn, QuiesceOn), if the only worker is the boss
	Blocking  bool // pollers block in epoll_wait instead of parking
	Spin      int  // WithSpin of pollers that park, in microseconds
	Pending   int  // WithMaxPendingTasks of the workers, or the maximum of channels of core/blocking; 0: no limit
	Aborts    bool // CloseChannels instead of DrainChannels
	Options   Options
	Kernel    Machine
	Conns     []Conn
	Calls     []Call // by goroutines of their own
	Watched   bool   // of core/blocking: a goroutine calls all getters all the time
	BadCall   int    // index of a call with a bad argument, or with one at its bound, or -1
	End       End
}

// Blocking is the Transport of programs of core/blocking.
const Blocking = "blocking"

// Options are the options of all channels and of the listener.
type Options struct {
	Low, High   int // water marks
	Spin        int
	ReadBuffer  int
	Recv, Send  int // the kernel's buffers; 0: its default
	Linger      int // milliseconds; -1: no option; shortestLinger
	HalfClosure bool
	Idle        [3]int // milliseconds, by tcp.IdleKind
	IdleHandler bool   // handlers are IdleHandlers
	Backlog     int
	Delay       bool   // WithNoDelay(false)
	KeepAlive   int    // milliseconds; -1: no option
	KeepsAddr   bool   // WithReuseAddr(false)
	At          string // where the listener listens; "": at anyPort
	Logger      string // what the logger does at the LoggerNth record: one of badLoggers
	LoggerNth   int
	ReusePort   bool
	BadHandler  string // how the BadNth call of newHandler fails: one of badHandlers
	BadNth      int

	// Of core/blocking.
	CloseTimeout int // milliseconds; -1: no option
	Handshake    int // its timeout in milliseconds; 0: no option
}

// linger is the time of WithLinger; it is negative without the option.
func (o Options) linger() time.Duration {
	if o.Linger == shortestLinger {
		return 1
	}
	return milliseconds(o.Linger)
}

// Machine describes the kernel.
type Machine struct {
	Send, Receive int
	Latency       int // 100 microseconds
	Files         int // room for descriptors; 0: no limit
	Faults        []kernel.Fault
	Before        []kernel.Fault // of calls that are made before the program, and must fail
}

// Conn is a connection.
type Conn struct {
	At         int
	Dialled    bool // core dials the peer
	Embedded   bool // the run dials the peer and gives the socket to tcp.Embed; Dialled has no effect then
	Waits      bool // if Dialled: Dial, which blocks, instead of DialAsync
	Silent     bool // if Dialled: the peer is on a machine that never answers
	Named      bool // if Dialled: by a name
	Refusing   int  // if Named: how many addresses of the name nobody listens at; they come first
	Lookup     int  // if Named: how many milliseconds the look-up takes
	Unknown    bool // if Named: the name does not exist
	DialFor    int  // if Dialled: milliseconds until the context of the dial ends; 0: it does not
	IPv6       bool // the peer connects, or is dialled, at [::1], if the listener of core takes it
	Send, Recv int  // buffers of the peer
	Writer     []PeerStep
	Reader     []PeerStep
	CloseOnEnd bool // the peer closes when it has read the end of the stream
	Echo       bool

	// Of core/blocking.
	Kind           string
	Lingers        bool // SO_LINGER is set
	Unsupported    bool // of kind pipe: it has a CloseWrite that fails with errors.ErrUnsupported
	Handshake      int  // how long it takes, of kind TLS
	HandshakeFails bool
	Oddity         string // of kind Odd
	OddCall        int    // which call of Read or Write it is, from 1
	Handler        []Reaction
}

// PeerStep is a step of a peer, after a pause of Wait milliseconds. Kind is send, end, close or
// reset in a writer, and read or drain in a reader.
type PeerStep struct {
	Wait int
	Kind string
	N    int
}

// Reaction is the action of a handler at the Nth event of a name, from 1; 0 means each event.
type Reaction struct {
	On  string
	Nth int
	Do  Action
}

// Call is a sequence of actions on a goroutine of its own, without a pause between them.
type Call struct {
	At   int
	Conn int // of this connection
	Do   Action
	Then []Action
}

// Action is a call of a channel or its executor, or of package tcp.
type Action struct {
	Kind      string
	N         int  // bytes, or milliseconds
	Wait      int  // milliseconds
	Elsewhere bool // of a handler: another goroutine makes the call, and the handler waits until it has returned
}

// End describes the shutdown of the groups.
type End struct {
	At             int
	Now            bool // Shutdown instead of ShutdownGracefully
	Quiet, Timeout int
}

// String is the program as JSON.
func (p Program) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// Errnos that a fault may give, by operation.
var faulty = map[kernel.Op][]syscall.Errno{
	kernel.OpRead:     {syscall.EINTR, syscall.EINTR, syscall.ENOBUFS},
	kernel.OpSend:     {syscall.EINTR, 0, 0, 0, syscall.ENOBUFS},
	kernel.OpAccept:   {syscall.EINTR, syscall.ECONNABORTED, syscall.EMFILE, syscall.ENOBUFS, syscall.EPERM, syscall.EPROTO},
	kernel.OpSocket:   {syscall.EMFILE, syscall.ENOBUFS},
	kernel.OpConnect:  {syscall.EADDRNOTAVAIL, syscall.EINTR},
	kernel.OpShutdown: {syscall.ENOTCONN},
	kernel.OpAdd:      {syscall.ENOMEM},
	kernel.OpWait:     {syscall.EINTR},
	kernel.OpClose:    {syscall.EIO, syscall.EINTR},
	kernel.OpOption:   {syscall.ENOMEM},
	kernel.OpModify:   {syscall.ENOMEM}, // of core/tcp: the last of all
}

// The errnos of calls that make a group or a listener fail, by operation.
var faultyBefore = map[kernel.Op][]syscall.Errno{
	kernel.OpSocket:   {syscall.EMFILE, syscall.EPROTONOSUPPORT, syscall.EAFNOSUPPORT},
	kernel.OpAdd:      {syscall.ENOMEM, syscall.ENOSPC},
	kernel.OpOption:   {syscall.ENOMEM},
	kernel.OpBind:     {syscall.EADDRINUSE, syscall.EADDRNOTAVAIL, syscall.EACCES},
	kernel.OpListen:   {syscall.EADDRINUSE},
	kernel.OpCreate:   {syscall.EMFILE, syscall.ENFILE},
	kernel.OpTimer:    {syscall.EMFILE},
	kernel.OpEvent:    {syscall.EMFILE},
	kernel.OpNonblock: {syscall.EBADF},
	kernel.OpPolled:   {syscall.ENOSPC},
}

// breaksListener are the errors of accept after which no later accept can succeed.
var breaksListener = []syscall.Errno{syscall.EINVAL, syscall.EBADF, syscall.ENOTSOCK}

// errRebuilds is how epoll_wait fails for once, so that the loop rebuilds its poller.
const errRebuilds = syscall.ENOMEM

// shortestLinger is an Options.Linger of one nanosecond.
const shortestLinger = -2

// faultsOf returns the calls that may fail in programs over a transport, and the errnos of a call.
// Package blocking does not see the errors of close(2).
func faultsOf(transport string) (last kernel.Op, errnos func(kernel.Op) []syscall.Errno) {
	if transport == Blocking {
		return kernel.OpWait, func(op kernel.Op) []syscall.Errno { return faulty[op] }
	}
	return kernel.OpModify, func(op kernel.Op) []syscall.Errno {
		if op == kernel.OpAccept {
			return slices.Concat(faulty[op], breaksListener)
		}
		return faulty[op]
	}
}

// Addresses to listen at, beside anyPort. The last is the empty string.
const emptyAddress = "empty"

var addresses = []string{"[::1]:0", ":0", "0.0.0.0:0", "[::]:0", "localhost:0", emptyAddress}

// What a logger does in the body in which it is called.
const (
	panicLogger  = "panic"
	goexitLogger = "goexit"
	closeLogger  = "close" // it closes the listener
)

var badLoggers = []string{panicLogger, goexitLogger, closeLogger}

// The ways in which a call of newHandler makes no handler.
const (
	nilHandler    = "nil"
	panicHandler  = "panic"
	goexitHandler = "goexit"
)

var badHandlers = []string{nilHandler, panicHandler, goexitHandler}
