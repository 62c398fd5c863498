//go:build linux

package sockets

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/props/lanes/sockets/kernel"
)

// conn is a connection of a run: its channel, and the events and writes of the channel.
type conn struct {
	r    *run
	spec *Conn
	nth  int

	closed      atomic.Bool  // CloseFuture has completed
	handshaking atomic.Bool  // of core/blocking: a handshake runs
	alerts      alerts       // of kind TLS
	odd         atomic.Bool  // an oddConn has done what its contract forbids
	waking      atomic.Int32 // wakers whose deadline has not come into force

	pausing sync.Mutex // held during a call of SetAutoRead

	mu               sync.Mutex
	peer             *kernel.Peer
	dial             *dialled // nil: core has not dialled
	ch               channel
	events           []event
	counts           map[string]int // of events, by name
	tasks, timers    submitted      // to the executor of the channel
	writes           []*write
	uncertain        int64 // bytes that were perhaps accepted: of broadcasts, and of writes that failed while the channel closed
	input            int   // bytes that the handler got
	notifiedWritable bool  // what IsWritable returned at the last call of the handler
	paused           bool
	resumed          time.Time // the last Resume that ended a pause
	resumes          int       // how many Resumes ended a pause
	pausedInside     bool      // a handler has paused the input since the last Resume
	switched         time.Time // when paused changed last
	holds            int
	allHolds         int          // calls of Hold so far
	holdCut          bool         // a call of cutsHolds has ended the effect of a hold, so that nothing says when idle times of input begin
	held, released   time.Time    // the begin of the last hold, and the last release of all holds
	idleSince        [3]time.Time // by tcp.IdleKind: the activation, or the last report of the kind
	complete         time.Time    // since when the channel has only to close; zero: it has other work left
	unflushed        bool         // a body has written without a flush since the last flush
	closeCalled      time.Time    // the first Close
	closeStamp       int64        // of the first Close; 0: there was none
	takenAtClose     int64        // bytes that the kernel had taken at the first Close on the loop, if it leaves no time; -1: unknown
	closeBy          time.Time    // the earliest deadline of CloseGracefully; zero: none
	endCalls         []string     // the calls that end the channel, or refuse its writes
	endBegins        []endCall    // these calls, with the stamps of their begin
	endReturns       []endCall    // those that have returned
	spans            []holdSpan
	refusedHolds     []refusedHold
	futures          map[string]*core.Future[struct{}] // the future of each call, by the name of the call
	outcomes         []outcome                         // with which these futures completed
	open             bool                              // the socket was open when the shutdown call returned
	atClose          *closing                          // nil: CloseFuture has not completed
	refusedAtEnd     error                             // of a write that judgeAfterwards has made
	failure          error                             // the argument of Error
	reads            int                               // calls of Read since the last ReadComplete
	inputEvents      int                               // calls of Read and InputShutdown since the last ReadComplete
	begun, returned  int64                             // bytes of writes and broadcasts, by their calls
	peak             int64                             // the most bytes that can have waited to be sent
}

// event is a call of the handler, or the completion of a future.
type event struct {
	name  string
	stamp int64
	at    time.Duration
}

func (c *conn) setPeer(p *kernel.Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peer = p
}

// record adds an event, and returns how many events have that name now.
func (c *conn) record(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, event{name, c.r.stamp(), time.Since(c.r.start)})
	c.counts[name]++
	return c.counts[name]
}

// names returns the names of the events so far.
func (c *conn) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.namesLocked()
}

// namesLocked is names. Requires mu.
func (c *conn) namesLocked() (all []string) {
	for _, e := range c.events {
		all = append(all, e.name)
	}
	return all
}

// happened reports whether there was an event of a name.
func (c *conn) happened(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[name] > 0
}

// calls returns the calls that end the channel, or refuse its writes, so far.
func (c *conn) calls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.endCalls)
}

// isEnding reports whether a call that ends the channel has begun.
func (c *conn) isEnding() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.endCalls) > 0
}

func (c *conn) channel() channel {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ch
}
