//go:build linux

package exits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The figures of process.HTTP and of net/http.
const (
	pollTime   = 5 * time.Millisecond // between two looks at the accept queue
	quietPolls = 20                   // looks that must find nothing, if new connections are turned away
	unreadTime = 5 * time.Second      // how long the step waits for the rest of the first request of a connection
	lookTime   = 551 * time.Millisecond
	tailTime   = 2003 * time.Nanosecond // that the program adds, so that no step ends by itself when its time is over
)

// serving is what the specification predicts of a server: its connections and requests.
type serving struct {
	x                *exit
	i                int
	s                *Server
	begin, cut       time.Duration // of the step; never: it is not begun
	near             time.Duration // from when on the step does not wait for silent connections
	shutdown         time.Duration // the call of Shutdown
	earliest, latest time.Duration // the end of the step, if nothing cuts it
	looks            bool          // they differ
	closed           time.Duration // the server closes every connection
}

// handling is a call of the handler.
type handling struct {
	name       string
	begin, end time.Duration
	client     int
	hijacks    bool
}

// httpStep predicts the step of a server.
func (x *exit) httpStep(i int, limit time.Duration) *row {
	e := &serving{x: x, i: i, s: &x.p.Steps[i].Server, begin: x.now, cut: never, shutdown: never, closed: never}
	x.servers[i] = e
	if x.now >= x.hard() {
		e.begin = never
		return nil
	}
	failure := ""
	r := x.perform(limit, "", func(begin, context time.Duration) time.Duration {
		var end time.Duration
		over := min(sum(begin, limit), x.deadline)
		e.cut, e.near = context, min(over-min(heedTime, (over-begin)/2), x.forced)
		end, failure = e.ends()
		return end
	})
	r.failure = failure
	return r
}

// at is when a client connects.
func (x *exit) clientAt(i, n int) time.Duration {
	from := x.begin
	if e := x.servers[i]; e != nil && e.begin != never {
		from = e.begin
	}
	return max(0, from+ms(x.p.Steps[i].Server.Clients[n].At)) + time.Duration(n+1)*37*time.Microsecond
}

func (s *Server) opens() time.Duration { return ms(s.Opens) + 71*time.Microsecond }
func (c *Client) takes() time.Duration { return ms(c.Takes) + 23*time.Microsecond }
func (c *Client) first() time.Duration { return ms(c.First) + 11*time.Microsecond }
func (c *Client) rest() time.Duration  { return ms(c.Rest) + 7*time.Microsecond }
func (c *Client) again() time.Duration { return ms(c.Again) + 3*time.Microsecond }
func (c *Client) heeds() time.Duration { return ms(c.Heeds) + 5*time.Microsecond }

// isSocket reports whether the step knows the socket of the listener.
func (e *serving) isSocket() bool { return e.s.Listener != "pipes" && (!e.s.Hides || e.s.Named) }

// filters reports whether the step can turn new connections away.
func (e *serving) filters() bool { return e.isSocket() && e.s.Listener != "multipath" }

// turnsAway is from when on the server gets no new connections.
func (e *serving) turnsAway() time.Duration {
	if e.filters() {
		return e.begin
	}
	return e.shutdown
}

// accepted is when the server accepts the connection of a client; never: it does not.
func (e *serving) accepted(n int) time.Duration {
	at := e.x.clientAt(e.i, n)
	if accepted := max(at, e.s.opens()); at < e.turnsAway() && accepted < min(e.shutdown, e.closed) {
		return accepted
	}
	return never
}

// connected is from when on a client has its connection: one in the accept queue is connected.
func (e *serving) connected(n int) time.Duration {
	if e.s.Listener == "pipes" {
		return e.accepted(n)
	}
	return e.x.clientAt(e.i, n)
}

// arrives is when the first bytes of the first request of a client come, and when the others do.
func (e *serving) arrives(n int) (first, all time.Duration) {
	c := &e.s.Clients[n]
	if c.First < 0 {
		return never, never
	}
	first = sum(e.connected(n), c.first())
	return first, sum(first, c.rest())
}

// handlings returns the calls of the handler, as far as Shutdown was not called before their requests
// were read.
func (e *serving) handlings() (all []handling) {
	for n := range e.s.Clients {
		c := &e.s.Clients[n]
		_, read := e.arrives(n)
		h := handling{fmt.Sprintf("%d/0", n), max(read, e.accepted(n)), 0, n, c.Hijacks}
		if c.Leaves || h.begin >= min(e.shutdown, e.closed) {
			continue
		}
		h.end = h.begin + c.takes()
		if c.Hijacks && c.Heeds >= 0 && e.begin != never && e.shutdown != never {
			h.end = min(h.end, max(h.begin, e.shutdown)+c.heeds())
		}
		all = append(all, h)
		again := h.end + c.again()
		if c.Again < 0 || c.Hijacks || c.Panics || e.closes(h) || again >= min(e.shutdown, e.closed) || h.end > e.closed {
			continue
		}
		all = append(all, handling{fmt.Sprintf("%d/1", n), again, again + c.takes(), n, false})
	}
	return all
}

// closes reports whether the answer closes its connection.
func (e *serving) closes(h handling) bool { return h.begin >= e.x.begin || h.end >= e.shutdown }

// unread reports whether, at a time, the first request of a connection has begun to arrive and is in no
// handler.
func (e *serving) unread(at time.Duration) bool {
	for n := range e.s.Clients {
		accepted := e.accepted(n)
		first, all := e.arrives(n)
		if e.s.Conns == "hidden" || e.s.Listener == "pipes" { // it is not known whether anything has arrived
			first = 0
		}
		if e.s.Conns != "uncomparable" && accepted <= at && max(accepted, all) > at && first <= at && at < accepted+unreadTime && accepted < e.begin+unreadTime {
			return true
		}
	}
	return false
}

// silent reports whether, at a time, no handler runs, and the step does not know that a connection has
// sent a part of a request.
func (e *serving) silent(at time.Duration) bool {
	all := e.handlings()
	for _, h := range all {
		if h.begin <= at && at < h.end {
			return false
		}
	}
	known := e.s.Listener != "pipes" && e.s.Conns == "socket"
	for n := range e.s.Clients {
		accepted := e.accepted(n)
		first, read := e.arrives(n)
		handled := slices.ContainsFunc(all, func(h handling) bool { return h.client == n && h.begin <= at })
		if !handled && accepted <= at && at < max(accepted, read) && (e.s.Conns == "uncomparable" || known && first <= at && at < accepted+unreadTime) {
			return false
		}
	}
	return true
}

// waiting reports whether the accept queue is not empty at a time.
func (e *serving) waiting(at time.Duration) bool {
	for n := range e.s.Clients {
		if arrived := e.x.clientAt(e.i, n); e.isSocket() && arrived <= at && arrived < e.turnsAway() && e.s.opens() > at {
			return true
		}
	}
	return false
}

// ends predicts when the step ends, and its failure.
func (e *serving) ends() (time.Duration, string) {
	polls := 0
	if e.filters() {
		polls = quietPolls
	}
	at := e.begin
	for quiet := 0; at < e.cut; at, quiet = at+pollTime, quiet+1 {
		if e.waiting(at) || e.unread(at) && !(at >= e.near && e.silent(at)) {
			quiet = -1
		}
		if quiet == polls {
			break
		}
	}
	e.shutdown = min(at, e.cut)
	idle := e.idle()
	handled := e.shutdown
	for _, h := range e.handlings() {
		handled = max(handled, h.end)
	}
	e.earliest, e.latest = max(idle, handled), max(idle, handled)
	if idle > e.shutdown {
		e.latest = max(idle+lookTime, handled)
	}
	e.latest += tailTime
	inTime := ""
	if e.s.CloseFails {
		inTime = "close"
	}
	if givesUp := max(e.near, e.shutdown); e.earliest > givesUp && givesUp < e.cut && e.silent(givesUp) {
		e.closed = givesUp
		return min(givesUp+tailTime, e.cut), ""
	}
	switch {
	case e.earliest >= e.cut:
		e.closed = e.cut
		switch cut := e.running(); {
		case cut != "":
			return e.cut, cut
		case idle > e.cut && e.silent(e.cut):
			return e.cut, ""
		case idle > e.cut:
			return e.cut, "late"
		}
		return e.cut, inTime
	case e.latest < e.cut:
		e.looks = idle > e.shutdown
		return e.latest, inTime
	}
	e.looks = true
	return e.cut, ""
}

// idle is from when on Shutdown finds no connection that it waits for: one whose request is being
// answered, or a new one, for some seconds.
func (e *serving) idle() time.Duration {
	idle := e.shutdown
	all := e.handlings()
	for n := range e.s.Clients {
		accepted := e.accepted(n)
		at := slices.IndexFunc(all, func(h handling) bool { return h.client == n })
		switch {
		case accepted == never:
		case at < 0:
			second := e.x.origin.Add(accepted).Unix() + 6 // in whole seconds, the first that are more than five later
			old := time.Duration(second-e.x.origin.Unix())*time.Second - time.Duration(e.x.origin.Nanosecond())
			_, read := e.arrives(n)
			idle = max(idle, min(old, read))
		}
	}
	for _, h := range all {
		if !h.hijacks {
			idle = max(idle, h.end)
		}
	}
	return idle
}

// running names the requests that are cut, the oldest first, and then by kind and name.
func (e *serving) running() string {
	var all []handling
	for _, h := range e.handlings() {
		if h.end > e.cut {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b handling) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(e.kind(a), e.kind(b)), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, h := range all {
		names = append(names, cutName(e.kind(h), "GET /"+h.name, e.x.origin.Add(h.begin)))
	}
	return strings.Join(names, ", ")
}

// kind is CutRequest.Kind. Of a connection that cannot be a key, the step does not know that it was
// hijacked.
func (e *serving) kind(h handling) string {
	if h.hijacks && e.s.Conns != "uncomparable" {
		return "hijacked"
	}
	return "HTTP/1.1"
}

func cutName(kind, what string, began time.Time) string {
	return fmt.Sprintf("cut %s %s at %d", kind, what, began.UnixNano())
}

// outcomes returns what becomes of each request. closed is when the program closes the server.
func (e *serving) outcomes(closed time.Duration) map[string]answered {
	e.closed = min(e.closed, closed)
	if e.begin == never {
		e.shutdown = closed
	}
	all := map[string]answered{}
	for n := range e.s.Clients {
		what := "cut"
		switch at := e.x.clientAt(e.i, n); {
		case at >= min(e.turnsAway(), e.shutdown, e.closed), e.s.Listener == "pipes" && e.accepted(n) == never:
			what = "refused"
		case e.s.Clients[n].First < 0:
			what = "closed"
		case e.s.Clients[n].Leaves:
			what = "left"
		}
		all[fmt.Sprintf("%d/0", n)] = answered{what: what}
	}
	for _, h := range e.handlings() {
		c := &e.s.Clients[h.client]
		switch {
		case h.hijacks && e.kind(h) == "hijacked" && h.end > e.cut:
			all[h.name] = answered{what: "cut"}
			continue
		case h.hijacks: // also after the server is closed
			all[h.name] = answered{"hijacked", h.end}
			continue
		case c.Panics, h.end > e.closed:
			all[h.name] = answered{what: "cut"}
			continue
		case e.closes(h):
			all[h.name] = answered{"answered, and closes", h.end}
			continue
		}
		all[h.name] = answered{"answered", h.end}
		if second := strings.Replace(h.name, "/0", "/1", 1); second != h.name && c.Again >= 0 {
			all[second] = answered{what: "cut"} // unless it is in a handler, see the next one
		}
	}
	return all
}
