package blocking

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"

	"pgregory.net/rapid"
)

var errOfRead = errors.New("error of Read")

// readResult is what one Read of a scripted connection does.
type readResult struct {
	N     int
	Err   error
	Waits bool // it returns at the deadline, not at once
	Woken bool // it calls Wake
}

var (
	early      = strangeTimeout{errors.New("stream: timeout")}
	errWrapped = fmt.Errorf("stream: %w", os.ErrDeadlineExceeded)
	errDead    = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)} // says Timeout
)

func drawReadResult(t *rapid.T) readResult {
	return readResult{
		N:     max(0, rapid.IntRange(-6, 4).Draw(t, "n")),
		Err:   rapid.SampledFrom([]error{nil, os.ErrDeadlineExceeded, os.ErrDeadlineExceeded, errWrapped, early, errDead, syscall.ETIMEDOUT, io.EOF, errOfRead}).Draw(t, "err"),
		Waits: rapid.Bool().Draw(t, "waits"), Woken: rapid.IntRange(0, 2).Draw(t, "woken") == 0,
	}
}

// scriptedConn is a connection whose Read has the drawn result.
type scriptedConn struct {
	net.Conn
	p        *connPoller
	result   readResult
	deadline time.Time
	reads    []time.Duration // the time until the deadline of each Read; 0: no deadline
}

func (s *scriptedConn) SetReadDeadline(at time.Time) error { s.deadline = at; return nil }

func (s *scriptedConn) Read([]byte) (int, error) {
	left := time.Duration(0)
	if !s.deadline.IsZero() {
		left = time.Until(s.deadline)
	}
	s.reads = append(s.reads, left)
	if s.result.Waits {
		time.Sleep(left)
	}
	if s.result.Woken {
		s.p.Wake()
	}
	return s.result.N, s.result.Err
}

// polls is a poller and its specification.
type polls struct {
	p    *connPoller
	conn *scriptedConn

	watched, pending bool // a wake-up is pending
	token            bool // of a waker that came as the deadline of the last sleep passed
	unread           bool // n bytes and err were read, and not taken
	n                int
	err              error
	idle             int             // consecutive calls of Wait without a poll
	fruitless        int             // consecutive polls that found nothing
	want             []time.Duration // the reads of the call
}

// read specifies a Read with the time left until its deadline; 0: no deadline. asleep: the loop sleeps in the Read, so Wake
// ends it.
func (s *polls) read(left time.Duration, asleep bool) {
	s.want = append(s.want, left)
	r := s.conn.result
	s.pending = s.pending || r.Woken
	passed := s.pending || r.Waits && left != 0 // the deadline
	if asleep {
		s.pending = false
	}
	err := r.Err
	if err == os.ErrDeadlineExceeded || err == errWrapped || err == early && passed {
		err = nil
	}
	if r.N > 0 || err != nil {
		s.unread, s.n, s.err, s.idle = true, r.N, err, 0
	}
}

// poll specifies a poll: a Read with a deadline of 5 µs. Each 16th consecutive poll without a result has 1 ms.
func (s *polls) poll() {
	s.idle = 0
	if !s.watched || s.unread {
		return
	}
	s.fruitless++
	left := 5 * time.Microsecond
	if s.fruitless%16 == 0 {
		left = time.Millisecond
	}
	s.read(left, false)
	if s.unread {
		s.fruitless = 0
	}
}

// wait specifies a call of Wait with the time d until its deadline; 0: no deadline.
func (s *polls) wait(d time.Duration) {
	if s.unread && s.watched {
		return
	}
	if s.idle >= 16 {
		if s.poll(); s.unread && s.watched {
			return
		}
		if len(s.want) > 0 && s.conn.result.Waits && d > 0 {
			d -= s.want[0] // the poll takes a part of the time
		}
	}
	s.idle++
	switch {
	case s.pending:
		s.pending = false
	case d < 0:
		s.poll()
	case s.watched:
		s.read(d, true)
	}
}

// pollCall is a call, with the result of the Read that it makes.
type pollCall struct {
	Name string
	D    time.Duration // until the deadline of Wait; 0: no deadline
	Read readResult
}

// step makes a call on both. It returns the first difference, or "".
func (s *polls) step(call pollCall) string {
	s.conn.result = call.Read
	switch call.Name {
	case "wake":
		s.p.Wake()
		s.pending = true
		return ""
	case "pause", "resume":
		s.watched = call.Name == "resume"
		interest := core.Interest(0)
		if s.watched {
			interest = core.Readable
		}
		if err := s.p.Modify(connFD, interest, 7); err != nil {
			return err.Error()
		}
		return ""
	case "late token":
		s.lateToken()
		return ""
	case "remove", "reopen":
		s.watched = false
		if call.Name == "reopen" {
			return errorText(s.p.Reopen())
		}
		return errorText(s.p.Remove(connFD))
	case "another descriptor":
		if a, m, r := s.p.Add(0, 0, 1), s.p.Modify(0, core.Readable, 1), s.p.Remove(0); a != errOneConnection || m != errOneConnection || r != nil {
			return fmt.Sprintf("Add, Modify and Remove of another descriptor: %v, %v, %v", a, m, r)
		}
		return ""
	case "take":
		return s.take()
	case "poll":
		s.poll()
		_ = s.p.Poll()
	case "14 polls":
		s.conn.result = readResult{Err: os.ErrDeadlineExceeded}
		for range 14 {
			s.poll()
			_ = s.p.Poll()
		}
	case "16 idle waits":
		s.conn.result = readResult{Err: os.ErrDeadlineExceeded}
		for range 16 {
			s.p.Wake()
			s.pending = true
			if wrong := s.waits(0); wrong != "" {
				return wrong
			}
		}
	case "wake and wait":
		s.p.Wake()
		s.pending = true
		return cmp.Or(s.waits(0), s.check())
	case "wait":
		if call.D == 0 && !s.watched && !s.pending {
			call.D = time.Second // otherwise it sleeps for ever
		}
		return cmp.Or(s.waits(call.D), s.check())
	}
	return s.check()
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// lateToken is a Wake of a parked loop whose deadline has passed meanwhile, so that it does not take the token. A token
// of an earlier waker may be there already.
func (s *polls) lateToken() {
	if s.pending {
		return
	}
	s.p.sleep.Store(sleepParked)
	s.p.Wake()
	s.p.sleep.Store(sleepAwake)
	s.token = true
}

// take takes what was read, or nothing.
func (s *polls) take() string {
	if p, err := s.p.take(); len(p) != s.n || err != s.err {
		return fmt.Sprintf("took %d bytes, %v, want %d, %v", len(p), err, s.n, s.err)
	}
	s.unread, s.n, s.err = false, 0, nil
	return ""
}

// dueNow stands for a deadline that passes at the call.
const dueNow = -time.Hour

// waits calls Wait.
func (s *polls) waits(d time.Duration) string {
	began, until := time.Now(), core.Deadline{}
	if d != 0 {
		until = began.Add(d)
	}
	if d == dueNow {
		until = began
	}
	parks := d > 0 && !s.watched && !s.pending
	want := d
	if parks && s.token {
		want, s.token = 0, false
	}
	s.wait(d)
	if err := s.p.Wait(until); err != nil {
		return fmt.Sprintf("Wait: %v", err)
	}
	if took := time.Since(began); parks && took != want {
		return fmt.Sprintf("G12: Wait of a paused connection took %v, want %v", took, want)
	}
	return ""
}

// check compares the reads of the call and its event.
func (s *polls) check() string {
	if got, want := fmt.Sprint(s.conn.reads), fmt.Sprint(s.want); got != want {
		return fmt.Sprintf("the reads have the times %s, want %s", got, want)
	}
	s.conn.reads, s.want = nil, nil
	want := "[]"
	if s.unread && s.watched {
		eof := s.err == io.EOF
		want = fmt.Sprint([]core.PollEvent{{Token: 7, Readiness: core.NewReadiness(true, false, eof, s.err != nil && !eof)}})
	}
	if got := fmt.Sprint(s.p.Ready()); got != want {
		return fmt.Sprintf("the events are %s, want %s", got, want)
	}
	if s.p.hasEnd() != (s.unread && s.err == io.EOF) {
		return fmt.Sprintf("hasEnd: %v, and the error is %v", s.p.hasEnd(), s.err)
	}
	return ""
}

func drawPollCalls(t *rapid.T) []pollCall {
	names := rapid.SampledFrom(rapid.SampledFrom([][]string{
		{"wake and wait", "wake and wait", "wake and wait", "wake and wait", "wake and wait", "wake and wait", "wait", "poll", "take", "pause", "resume"},
		{"poll", "poll", "poll", "poll", "poll", "poll", "wait", "take", "take", "pause", "resume", "resume"},
		{"wait", "wait", "wait", "take"},
		{"14 polls", "poll", "poll", "take", "pause", "resume"},
		{"16 idle waits", "poll", "poll", "wait", "take", "pause", "resume"},
		{"wake", "wait", "wait", "poll", "take", "take", "pause", "resume", "resume"},
		{"wake", "wait", "wait", "late token", "late token", "pause", "remove", "reopen", "resume", "another descriptor", "take"},
	}).Draw(t, "kind"))
	quiet := rapid.Bool().Draw(t, "quiet") // nothing is found
	n := rapid.SampledFrom([]int{1, 5, 20, 80}).Draw(t, "at most")
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pollCall {
		c := pollCall{
			Name: names.Draw(t, "call"),
			D:    rapid.SampledFrom([]time.Duration{-time.Second, dueNow, 0, 0, 1, time.Second}).Draw(t, "d"),
			Read: readResult{Err: os.ErrDeadlineExceeded},
		}
		if !quiet {
			c.Read = drawReadResult(t)
		}
		return c
	}), max(1, n/2), n).Draw(t, "calls")
}

// TestPropPolls: Wait reads with the deadline of its caller, and returns at once if a wake-up is pending or
// if the channel has not taken the input. After 16 calls that have found nothing, Wait polls first. A poll has a
// deadline of 5 µs. Each 16th consecutive poll without a result has 1 ms, because on a busy processor the
// shorter deadlines may pass before Read begins. A connection that is paused or removed is not read, and none is after
// Reopen. What was read goes with its connection. A token that is left of an earlier sleep blocks no waker, and ends one sleep (G12, G13).
func TestPropPolls(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		calls := drawPollCalls(rt)
		wrong := ""
		synctest.Test(t, func(*testing.T) {
			s := &polls{p: newConnPoller(), watched: true}
			s.conn = &scriptedConn{p: s.p}
			s.p.attach(connection{s.conn, s.conn}, 4)
			if err := s.p.Add(connFD, core.Readable, 7); err != nil {
				wrong = err.Error()
			}
			if err := newConnPoller().Add(connFD, core.Readable, 7); err != errOneConnection {
				wrong = fmt.Sprintf("Add without a connection: %v", err)
			}
			for i := 0; i < len(calls) && wrong == ""; i++ {
				if wrong = s.step(calls[i]); wrong != "" {
					wrong = fmt.Sprintf("call %d, %s: %s", i, calls[i].Name, wrong)
				}
			}
			unread, failure := s.unread, s.err
			if got := s.p.failure(); wrong == "" && (got != nil) != (unread && failure != nil && failure != io.EOF) {
				wrong = fmt.Sprintf("failure: %v, and the error is %v", got, failure)
			}
			s.p.detach()
			if p, err := s.p.take(); wrong == "" && (len(p) != 0 || err != nil || s.p.hasEnd() || s.p.failure() != nil) {
				wrong = fmt.Sprintf("the poller without a connection has %q, %v", p, err)
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
