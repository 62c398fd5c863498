//go:build linux

package kernel

import (
	"net/netip"
	"syscall"
	"time"
)

// Connection is the record of a connection, for a judge. Kernel.Connections returns copies.
type Connection struct {
	Client, Server netip.AddrPort
	Ends           [2]End // of the client and of the server
	Reset          bool   // a RST was sent
	Established    bool
	EstablishedAt  time.Time
	Accepted       bool // accept has returned it
	NeverAccepted  bool // the listener was closed before

	client, server *socket
}

// End is one end of a connection.
type End struct {
	Ours      bool  // it is the process under test
	Taken     int64 // bytes that send accepted
	Delivered int64 // bytes of Taken that the other end has in its receive buffer, which acknowledges them
	Read      int64 // bytes that receive returned here
	Ended     bool  // its FIN is acknowledged
	Closed    bool  // no descriptor is left
	CloseErr  syscall.Errno

	Stream   []byte // what send accepted, of the process under test
	EndRead  bool   // receive has returned the end of the stream
	EndFirst bool   // receive has returned it before our own FIN was sent

	LastTaken, LastRead time.Time // when send last accepted bytes, and receive last returned some; zero: never

	Needless  int         // reads that returned EAGAIN after one that had emptied the socket, and no readiness between them
	Waiting   int         // bytes in its receive buffer
	Roomy     bool        // epoll reports room
	PeerEnded bool        // the FIN of the other end has come
	Failed    bool        // an error waits for a call that takes it
	WasReset  bool        // a RST of the other end has come
	Live      bool        // the connection is neither reset nor over
	FinSent   bool        // its output was shut down, or its socket was closed
	ShutDowns int         // calls of shutdown(2)
	Queries   []time.Time // the calls that queried the number of unacknowledged bytes
	Blocked   bool        // of a Conn: a Write has not returned
	Linger    int         // of a Conn: the last SetLinger

	SendBuffer, ReceiveBuffer int
	Options                   map[[2]int]int // set by SetOption, by level and name; without buffers
}

func newConnection(client *socket) *Connection {
	c := &Connection{Client: client.local, Server: client.remote, client: client}
	c.Ends[0].Ours = client.ours
	return c
}

func (c *Connection) end(s *socket) *End {
	if s == c.client {
		return &c.Ends[0]
	}
	return &c.Ends[1]
}

// Other returns the other end of the connection.
func (c *Connection) Other(end *End) *End {
	if end == &c.Ends[0] {
		return &c.Ends[1]
	}
	return &c.Ends[0]
}

func (c *Connection) accepts(server *socket) {
	c.server, c.Established, c.EstablishedAt = server, true, time.Now()
	c.Ends[1].Ours = server.ours
}

func (c *Connection) wasReset(s *socket)         { c.end(s).WasReset = true }
func (c *Connection) neverAccepted()             { c.NeverAccepted = true }
func (c *Connection) broken()                    { c.Reset = c.Established }
func (c *Connection) delivered(s *socket, n int) { c.end(s).Delivered += int64(n) }
func (c *Connection) ended(s *socket)            { c.end(s).Ended = true }

func (c *Connection) readEnd(s *socket) {
	e := c.end(s)
	e.EndFirst = e.EndFirst || !e.EndRead && !s.noOutput
	e.EndRead = true
}

func (c *Connection) read(s *socket, n int) {
	e := c.end(s)
	e.Read += int64(n)
	if n > 0 {
		e.LastRead = time.Now()
	}
}

func (c *Connection) sent(s *socket, p []byte) {
	e := c.end(s)
	if len(p) > 0 {
		e.LastTaken = time.Now()
	}
	e.Taken += int64(len(p))
	if s.ours {
		e.Stream = append(e.Stream, p...)
	}
}

// Queued returns how many connections the listeners of the process under test have not
// accepted.
func (k *Kernel) Queued() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range k.listeners {
		if l.ours {
			n += len(l.queue)
		}
	}
	return n
}

// Listening is the record of a listener of the process under test, for a judge.
type Listening struct {
	Local                     netip.AddrPort
	Backlog                   int
	ReusePort                 bool
	OnlyIPv6                  bool
	SendBuffer, ReceiveBuffer int
	Options                   map[[2]int]int // set by SetOption, by level and name; without buffers
	Closed                    bool
	CloseErr                  syscall.Errno
}

// Listened returns the listeners that the process under test has ever had.
func (k *Kernel) Listened() (all []Listening) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.listened {
		all = append(all, Listening{s.local, s.backlog, s.reusePort, s.onlyIPv6, s.sendBuffer, s.recvBuffer, s.options, s.dead, s.closeErr})
	}
	return all
}

// Connections returns the connections in the order of their connect calls.
func (k *Kernel) Connections() []Connection {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]Connection, len(k.made))
	for i, c := range k.made {
		all[i] = *c
		for side, s := range []*socket{c.client, c.server} {
			if s == nil {
				continue
			}
			e := &all[i].Ends[side]
			e.CloseErr = s.closeErr
			e.Needless = s.needless
			e.Closed, e.Waiting, e.PeerEnded, e.Failed = s.dead, len(s.input), s.finReceived, s.err != 0
			e.Roomy, e.Live, e.FinSent = s.roomy(), s.connected(), s.noOutput
			e.Blocked, e.Linger = s.blocked > 0, s.linger
			e.SendBuffer, e.ReceiveBuffer, e.Options = s.sendBuffer, s.recvBuffer, s.options
		}
	}
	return all
}
