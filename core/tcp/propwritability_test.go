package tcp_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
	"eventide/core/tcp/tcptest"

	"pgregory.net/rapid"
)

// TestPropR222Writability compares a channel with a specification: the bytes that are pending, those until it is writable or
// no longer is, and the calls of WritabilityChanged. A channel is unwritable from more than the high mark until less than the low
// one. The handler is called if the writability differs from that at the last call, or if the channel has become unwritable
// and writable again since then. A call never begins inside another, even if the handler writes (R222).
func TestPropR222Writability(t *testing.T) {
	checkInBubbles(t, func(r *rapid.T) func(t *testing.T) string {
		marks := rapid.SampledFrom([][2]int{{1, 1}, {1, 3}, {2, 5}, {4, 4}}).Draw(r, "marks")
		s := &writabilitySpec{low: marks[0], high: marks[1], room: -1, writable: true, notified: true}
		for range rapid.IntRange(0, 4).Draw(r, "writes of the handler") {
			s.answers = append(s.answers, drawWrite(r))
		}
		var steps []writeStep
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			steps = append(steps, drawWrite(r))
		}
		return func(t *testing.T) string {
			if wrong := s.run(t, steps); wrong != "" {
				return fmt.Sprintf("R222: %s; marks %v, steps %v, the handler writes %v", wrong, marks, steps, s.answers)
			}
			return ""
		}
	})
}

// writeStep is a Write of n bytes, a Flush, both, or, if room is set, n more bytes that the peer receives.
type writeStep struct {
	n       int
	flushes bool
	onLoop  bool
	room    bool
}

func drawWrite(t *rapid.T) writeStep {
	return writeStep{
		n:       rapid.SampledFrom([]int{1, 2, 3, 0, 7, -1}).Draw(t, "n"),
		flushes: rapid.Bool().Draw(t, "flushes"),
		onLoop:  rapid.Bool().Draw(t, "on the loop"),
		room:    rapid.SampledFrom([]bool{false, false, true}).Draw(t, "room"),
	}
}

// do makes the calls of a write.
func (w writeStep) do(ch *tcp.Channel) {
	p := make([]byte, max(w.n, 0))
	switch {
	case w.n <= 0:
		ch.Flush()
	case w.flushes:
		ch.WriteAndFlush(p)
	default:
		ch.Write(p)
	}
}

// writabilitySpec is the state of a channel, and the calls that its handler must get.
type writabilitySpec struct {
	low, high int
	answers   []writeStep // writes of the handler, one in each call

	pending, marked    int // bytes that wait, and the flushed ones among them
	room               int // bytes that the peer receives; negative: no limit
	writable, notified bool
	crossed            bool // the channel became unwritable since the last call of the handler
	calls              []bool
}

// write applies a write to the specification, without the calls of the handler.
func (s *writabilitySpec) write(w writeStep, onLoop bool) {
	n := max(w.n, 0)
	if n > 0 && w.flushes && onLoop && s.pending == 0 { // the channel offers the bytes to the kernel without a copy
		direct := s.takes(n)
		n -= direct
	}
	s.pending += n
	if s.pending > s.high && s.writable {
		s.writable, s.crossed = false, true
	}
	if w.n <= 0 || w.flushes {
		s.marked = s.pending
		s.send()
	}
}

// takes returns how many of n bytes the kernel takes.
func (s *writabilitySpec) takes(n int) int {
	if s.room < 0 {
		return n
	}
	n = min(n, s.room)
	s.room -= n
	return n
}

// send sends the flushed bytes.
func (s *writabilitySpec) send() {
	n := s.takes(s.marked)
	s.pending, s.marked = s.pending-n, s.marked-n
	s.rises()
}

func (s *writabilitySpec) rises() {
	if s.pending < s.low {
		s.writable = true
	}
}

// notify applies the calls of the handler, and returns the writes that the handler has not made.
func (s *writabilitySpec) notify(answers []writeStep) []writeStep {
	for s.notified != s.writable || s.writable && s.crossed {
		s.notified, s.crossed = s.writable, false
		s.calls = append(s.calls, s.writable)
		if len(answers) > 0 {
			s.write(answers[0], true)
			answers = answers[1:]
		}
	}
	return answers
}

// writer is a handler that writes in each call of WritabilityChanged.
type writer struct {
	tcp.HandlerBase
	answers []writeStep
	calls   []bool
	inside  bool
	nested  bool
}

func (h *writer) WritabilityChanged(ch *tcp.Channel) {
	h.nested = h.nested || h.inside
	h.inside = true
	h.calls = append(h.calls, ch.IsWritable())
	if len(h.answers) > 0 {
		next := h.answers[0]
		h.answers = h.answers[1:]
		next.do(ch)
	}
	h.inside = false
}

// run makes the steps, and describes the first difference from the specification, if there is one.
func (s *writabilitySpec) run(t *testing.T, steps []writeStep) string {
	h := &writer{answers: s.answers}
	p := tcptest.Connect(t, h, tcp.WithWriteBufferWaterMarks(s.low, s.high))
	ch, answers := p.Channel(), s.answers
	for i, step := range steps {
		switch {
		case step.room:
			p.SetRoom(step.n)
			if s.room = step.n; step.n != 0 && s.marked > 0 {
				s.send()
			}
		case step.onLoop:
			coretest.OnLoop(t, p.EventLoop(), func() { step.do(ch) })
			s.write(step, true)
		default:
			step.do(ch)
			s.write(step, false)
		}
		synctest.Wait()
		answers = s.notify(answers)
		until, again := 0, 0
		if s.writable {
			until = max(0, s.high-s.pending+1)
		} else {
			again = max(0, s.pending-s.low+1)
		}
		got := fmt.Sprint(ch.PendingBytes(), ch.IsWritable(), ch.BytesBeforeUnwritable(), ch.BytesBeforeWritable(), h.calls, h.nested)
		if want := fmt.Sprint(s.pending, s.writable, until, again, s.calls, false); got != want {
			return fmt.Sprintf("after step %d the pending bytes, the writability, the bytes before a change, the calls, and whether one was inside another are %s, want %s", i, got, want)
		}
	}
	return ""
}
