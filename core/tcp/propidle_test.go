package tcp_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
	"eventide/core/tcp/tcptest"

	"pgregory.net/rapid"
)

// TestPropIdle compares the calls of Idle with a specification, in virtual time and to the nanosecond. The time of a kind
// restarts at each activity of that kind and at each call of Idle; that of the kinds of input also at the last release,
// at the end of a pause, and when its end is checked while the channel is held or its input paused. A hold has no effect after
// CloseOutput. A graceful close ends all idle timeouts. A handler without Idle gets an *IdleError at the time of the first call.
// The time begins at the read itself, and not at the end of a Read that takes long, which only delays the checks.
func TestPropIdle(t *testing.T) {
	checkInBubbles(t, func(r *rapid.T) func(t *testing.T) string {
		return drawIdleScript(r).run
	})
}

// idleScript is a sequence of acts on a channel with idle timeouts.
type idleScript struct {
	timeouts [3]time.Duration // by kind
	handles  bool             // the handler has the method Idle
	takes    time.Duration    // the time of each call of Read
	steps    []idleStep
}

// idleStep is one act, and the time until the next one.
type idleStep struct {
	act  string
	n    int // bytes of a write, room of the peer, or index of a hold
	then time.Duration
}

// drawIdleScript draws timeouts that pass between two acts, and never at one.
func drawIdleScript(t *rapid.T) idleScript {
	s := idleScript{handles: rapid.SampledFrom([]bool{true, true, true, false}).Draw(t, "the handler has Idle")}
	for kind := range s.timeouts {
		if n := rapid.SampledFrom([]int{1, 4, 10, 15, 0}).Draw(t, "seconds"); n > 0 {
			s.timeouts[kind] = time.Duration(n)*time.Second + time.Millisecond
		}
	}
	s.takes = rapid.SampledFrom([]time.Duration{0, 500 * time.Millisecond, 2500 * time.Millisecond}).Draw(t, "Read takes")
	first := rapid.SampledFrom([][]string{nil, {"hold", "hold", "close output"}, {"hold"}, {"hold", "hold", "close output"}, {"hold", "hold"}, {"pause", "send", "resume"}}).Draw(t, "the first acts")
	for _, act := range first {
		s.steps = append(s.steps, idleStep{act: act, then: s.takes})
	}
	acts := []string{"send", "write", "write on the loop", "hold", "release", "hold", "release", "pause", "resume", "room", "close output", "wait", "quiesce", "close"}
	for range rapid.IntRange(1, 10).Draw(t, "steps") {
		s.steps = append(s.steps, idleStep{
			act:  rapid.SampledFrom(acts).Draw(t, "act"),
			n:    rapid.SampledFrom([]int{0, 1, -1, 2}).Draw(t, "n"),
			then: time.Duration(rapid.SampledFrom([]int{1, 3, 8, 12, 20, 0}).Draw(t, "seconds behind it"))*time.Second + s.takes,
		})
	}
	return s
}

// idleCall is a call of Idle, or of Error with an *IdleError.
type idleCall struct {
	kind tcp.IdleKind
	at   time.Duration
}

// idleSpec computes the calls of Idle.
type idleSpec struct {
	idleScript
	now     time.Duration
	busy    time.Duration    // the end of the last call of Read
	since   [3]time.Duration // when the time of each kind began
	checks  [3]time.Duration // when its end is checked
	over    bool             // a graceful close has begun
	calls   []idleCall
	holds   []bool // for each hold: it is not released
	pending int    // bytes that the kernel has not taken
	room    int    // negative: no limit
	unread  bool
	paused  bool
	quiet   bool // the input has ended (Quiesce)
	shut    bool // CloseOutput was called
}

func (s *idleSpec) held() int {
	n := 0
	for _, open := range s.holds {
		if open {
			n++
		}
	}
	return n
}

// act applies one act to the specification.
func (s *idleSpec) act(step idleStep) {
	switch step.act {
	case "send":
		s.unread = true
	case "write", "write on the loop":
		if !s.shut {
			s.pending += max(step.n, 0)
		}
	case "hold":
		if !s.shut && !s.over {
			s.holds = append(s.holds, true)
		}
	case "release":
		if i := s.index(step.n); i >= 0 && s.holds[i] {
			if s.holds[i] = false; s.held() == 0 {
				s.inputBegins()
			}
		}
	case "pause":
		s.paused = true
	case "resume":
		if s.paused {
			s.inputBegins()
		}
		s.paused = false
	case "room":
		s.room = step.n
	case "close output":
		s.shut = true
	case "quiesce":
		s.quiet = true
	case "close":
		s.over = true
	}
	if s.unread && !s.paused && !s.quiet {
		s.unread, s.since[tcp.ReadIdle], s.since[tcp.AllIdle] = false, s.now, s.now
		if !s.over {
			s.busy = s.now + s.takes
		}
	}
	if s.pending > 0 && s.room != 0 {
		n := s.pending
		if s.room > 0 {
			n = min(n, s.room)
			s.room -= n
		}
		s.pending -= n
		s.since[tcp.WriteIdle], s.since[tcp.AllIdle] = s.now, s.now
	}
}

// inputBegins restarts the time of the kinds of input.
func (s *idleSpec) inputBegins() { s.since[tcp.ReadIdle], s.since[tcp.AllIdle] = s.now, s.now }

// index returns the index of the hold that n means, or -1.
func (s *idleSpec) index(n int) int {
	if len(s.holds) == 0 {
		return -1
	}
	return (n + 1) % len(s.holds)
}

// pass lets time pass.
func (s *idleSpec) pass(d time.Duration) {
	end := s.now + d
	for !s.over {
		next := idleCall{at: end + 1}
		for kind, timeout := range s.timeouts {
			if at := max(s.checks[kind], s.busy); timeout > 0 && at < next.at {
				next = idleCall{tcp.IdleKind(kind), at}
			}
		}
		if next.at > end {
			break
		}
		s.check(next)
	}
	s.now = end
}

// check checks one kind. The next check is at the earliest time at which the timeout can have passed.
func (s *idleSpec) check(c idleCall) {
	timeout := s.timeouts[c.kind]
	waits := s.paused || s.quiet || s.held() > 0 && !s.shut // the peer owes no input
	switch {
	case waits && c.kind != tcp.WriteIdle:
		s.since[c.kind] = c.at
	case c.at-s.since[c.kind] >= timeout:
		s.calls = append(s.calls, c)
		s.since[c.kind] = c.at
	}
	s.checks[c.kind] = s.since[c.kind] + timeout
}

// idleRecorder records the calls of Idle, and the errors.
type idleRecorder struct {
	tcp.HandlerBase
	begin time.Time
	takes time.Duration
	calls *[]idleCall
	errs  *[]error
}

func (h idleRecorder) Read(*tcp.Channel, []byte) { time.Sleep(h.takes) }

func (h idleRecorder) Error(_ *tcp.Channel, err error) {
	*h.errs = append(*h.errs, err)
	if idle := (*tcp.IdleError)(nil); errors.As(err, &idle) {
		*h.calls = append(*h.calls, idleCall{idle.Kind, time.Since(h.begin)})
	}
}

// idleHandler is an idleRecorder that has the method Idle.
type idleHandler struct{ idleRecorder }

func (h idleHandler) Idle(_ *tcp.Channel, kind tcp.IdleKind) {
	*h.calls = append(*h.calls, idleCall{kind, time.Since(h.begin)})
}

// run runs the script, and describes the difference from the specification, if there is one.
func (s idleScript) run(t *testing.T) string {
	var got []idleCall
	var errs []error
	var h tcp.Handler
	recorder := idleRecorder{begin: time.Now(), takes: s.takes, calls: &got, errs: &errs}
	if h = recorder; s.handles {
		h = idleHandler{recorder}
	}
	p := tcptest.Connect(t, h, tcp.WithIdleTimeouts(s.timeouts[tcp.ReadIdle], s.timeouts[tcp.WriteIdle], s.timeouts[tcp.AllIdle]))
	spec := &idleSpec{idleScript: s, checks: s.timeouts, room: -1}
	var releases []func()
	for _, step := range s.steps {
		at := spec.index(step.n)
		spec.act(step)
		switch step.act {
		case "send":
			p.Send([]byte("x"))
		case "write":
			p.Channel().WriteAndFlush(make([]byte, max(step.n, 0)))
		case "write on the loop":
			coretest.OnLoop(t, p.EventLoop(), func() { p.Channel().WriteAndFlush(make([]byte, max(step.n, 0))) })
		case "hold":
			if release, err := p.Channel().Hold(); err == nil {
				releases = append(releases, release)
			}
		case "release":
			if at >= 0 {
				releases[at]()
			}
		case "pause", "resume":
			p.Channel().SetAutoRead(step.act == "resume")
		case "room":
			p.SetRoom(step.n)
		case "close output":
			p.Channel().CloseOutput()
		case "quiesce":
			coretest.Must(t, tcp.QuiesceOn(t.Context(), p.EventLoop()))
		case "close":
			p.Channel().CloseGracefully(time.Time{})
		}
		synctest.Wait()
		time.Sleep(step.then)
		synctest.Wait()
		spec.pass(step.then)
		if !s.handles && len(spec.calls) > 0 {
			break // the channel has closed
		}
	}
	return s.judge(p.Channel(), spec.calls, got, errs)
}

// judge compares the calls with those of the specification.
func (s idleScript) judge(ch *tcp.Channel, want, got []idleCall, errs []error) string {
	byTime := func(a, b idleCall) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind)) }
	slices.SortFunc(want, byTime)
	slices.SortFunc(got, byTime) // timers of one instant fire in any order
	switch {
	case !s.handles && len(want) > 0:
		first := want[0].at
		want = slices.DeleteFunc(want, func(c idleCall) bool { return c.at > first })
		if len(got) != 1 || len(errs) != 1 || !slices.Contains(want, got[0]) {
			return fmt.Sprintf("the channel closes for %v with the errors %v, want one of %v", got, errs, want)
		}
		idle := (*tcp.IdleError)(nil)
		if cause := ch.CloseCause(); cause != errs[0] || !errors.As(cause, &idle) || idle.After != s.timeouts[idle.Kind] {
			return fmt.Sprintf("the cause is %v, want that of the handler, %v, with the timeout", cause, errs[0])
		}
	case len(errs) > 0:
		return fmt.Sprintf("the errors of the handler are %v, want none", errs)
	case !slices.Equal(got, want):
		return fmt.Sprintf("the calls of Idle are %v, want %v", got, want)
	}
	return ""
}
