package blocking

import (
	"bytes"
	"runtime"
	"slices"
	"testing"
	"weak"

	"eventide/core"

	"pgregory.net/rapid"
)

// outboundSpec is an outbound and its specification: the stream of all bytes, and the pending futures.
type outboundSpec struct {
	t       *rapid.T
	o       outbound
	stream  []byte
	flushed int
	ends    []int  // the offset after each write
	piece   []byte // in flight, or nil
	waiting []waitingFuture
	done    []weak.Pointer[core.Promise[struct{}]]
}

// waitingFuture is a pending future of a write.
type waitingFuture struct {
	number  int64
	end     int64
	promise weak.Pointer[core.Promise[struct{}]]
}

// write makes a write, whose bytes differ from their neighbours.
func (s *outboundSpec) write() {
	p := make([]byte, rapid.SampledFrom([]int{0, 0, 1, 1, 7, 100, 1000, 1000, 5000, mostAtOnce - 1, mostAtOnce + 1, 3 * mostAtOnce}).Draw(s.t, "size"))
	for i := range p {
		p[i] = byte(len(s.stream) + i + (len(s.stream)+i)>>8)
	}
	room := cap(s.o.queue)
	s.o.push(p)
	if cap(s.o.queue) > room && s.o.head > 0 {
		s.t.Fatalf("G24: the queue grows from %d to %d bytes with %d sent bytes in it", room, cap(s.o.queue), s.o.head)
	}
	s.stream = append(s.stream, p...)
	s.ends = append(s.ends, len(s.stream))
	clear(p) // push has copied it
}

// take begins a Write of the connection, which reads the piece without the lock.
func (s *outboundSpec) take() {
	if s.piece != nil || s.flushed == len(s.stream) {
		return
	}
	upTo := rapid.IntRange(s.flushed+1, len(s.stream)).Draw(s.t, "up to")
	s.piece = s.o.next(int64(upTo))
	if want := min(upTo-s.flushed, 64<<10); len(s.piece) != want {
		s.t.Fatalf("the piece from %d up to %d has %d bytes, want %d", s.flushed, upTo, len(s.piece), want)
	}
}

// sent ends the Write, which has taken the piece or a part of it.
func (s *outboundSpec) sent() {
	if s.piece == nil {
		return
	}
	if !bytes.Equal(s.piece, s.stream[s.flushed:][:len(s.piece)]) {
		s.t.Fatalf("G23: the piece from %d on has other bytes than were written", s.flushed)
	}
	n := len(s.piece)
	if rapid.IntRange(0, 3).Draw(s.t, "a part") == 0 {
		n = rapid.IntRange(0, n).Draw(s.t, "taken")
	}
	s.piece = nil
	s.o.sent(n)
	s.flushed += n
	if s.flushed == len(s.stream) && (s.o.head > 0 || len(s.o.queue) > 0 || cap(s.o.queue) > mostKept) {
		s.t.Fatalf("G24: an empty queue keeps %d of %d bytes, from %d on, want none of at most %d", len(s.o.queue), cap(s.o.queue), s.o.head, mostKept)
	}
	s.complete()
}

// complete compares the completed futures: those of the writes that end at flushed or before, in the order of the writes.
// Futures of the same write complete in the order in which they were added.
func (s *outboundSpec) complete() {
	n := 0
	for n < len(s.waiting) && s.waiting[n].end <= int64(s.flushed) {
		n++
	}
	done := s.o.completed()
	if len(done) != n {
		s.t.Fatalf("G22: %d futures are complete at %d, want %d", len(done), s.flushed, n)
	}
	for i, w := range done {
		if w.promise != s.waiting[i].promise.Value() {
			s.t.Fatalf("G22: future %d of %d is that of write %d, want that of write %d", i, n, w.f.number, s.waiting[i].number)
		}
		s.done = append(s.done, s.waiting[i].promise)
	}
	s.waiting = s.waiting[n:]
}

// wait adds a future of a write that is not sent completely.
func (s *outboundSpec) wait() {
	if len(s.ends) == 0 {
		return
	}
	i := rapid.IntRange(0, len(s.ends)-1).Draw(s.t, "write")
	if s.ends[i] <= s.flushed {
		return
	}
	p := core.NewPromise[struct{}](nil)
	w := waitingFuture{int64(i + 1), int64(s.ends[i]), weak.Make(p)}
	s.o.add(waiter{WriteFuture{number: w.number, end: w.end}, p})
	at := 0
	for at < len(s.waiting) && s.waiting[at].number <= w.number {
		at++
	}
	s.waiting = slices.Insert(s.waiting, at, w)
}

// TestPropOutboundGrows: while bytes are taken more slowly than they are written, the queue gets new memory a number of
// times that grows with the logarithm of the pending bytes.
func TestPropOutboundGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size, taken := rapid.IntRange(2, 50).Draw(t, "size"), rapid.IntRange(0, 1).Draw(t, "taken")
		var o outbound
		grown := 0
		for range rapid.SampledFrom([]int{10, 500, 2000}).Draw(t, "writes") {
			before := cap(o.queue)
			o.push(make([]byte, size))
			if cap(o.queue) != before {
				grown++
			}
			o.marked = o.accepted
			o.sent(min(taken, len(o.next(o.marked))))
		}
		// append grows by a quarter at least.
		most := 8
		for n := int64(1); n < o.accepted; n += n/4 + 1 {
			most++
		}
		if grown > most {
			t.Fatalf("%d writes of %d bytes have grown the queue %d times, want at most %d", o.writes, size, grown, most)
		}
	})
}

// check compares the counts, and bounds the capacity of the queue. An empty queue keeps little memory, and the capacity
// does not depend on how many bytes were sent. most is the largest number of bytes that were pending at once.
func (s *outboundSpec) check(most int) {
	if got, want := s.o.pending(), int64(len(s.stream)-s.flushed); got != want || s.o.writes != int64(len(s.ends)) {
		s.t.Fatalf("%d pending bytes of %d writes, want %d of %d", got, s.o.writes, want, len(s.ends))
	}
	if s.o.pending() == 0 && cap(s.o.queue) > mostKept {
		s.t.Fatalf("G24: an empty queue keeps %d bytes, want at most %d", cap(s.o.queue), mostKept)
	}
	if cap(s.o.queue) > 4*most+mostKept {
		s.t.Fatalf("G24: a queue of at most %d bytes has grown to %d", most, cap(s.o.queue))
	}
}

// TestPropOutbound: the bytes leave in the order of the writes, in pieces of at most 64 KiB that later writes
// do not change; futures complete in the order of the writes. Neither bytes that were sent nor futures that
// are complete stay in memory (G22, G23, G24).
func TestPropOutbound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &outboundSpec{t: rt}
		steps := map[string]func(){"write": s.write, "take": s.take, "sent": s.sent, "wait": s.wait}
		names := rapid.SampledFrom([]string{"write", "write", "wait", "wait", "take", "take", "sent", "sent"})
		most := 0
		for range rapid.SampledFrom([]int{4, 20, 60}).Draw(rt, "steps") {
			steps[names.Draw(rt, "step")]()
			most = max(most, len(s.stream)-s.flushed)
			s.check(most)
		}
		if len(s.done) == 0 {
			return
		}
		runtime.GC()
		for i, p := range s.done {
			if p.Value() != nil {
				rt.Fatalf("G24: the promise of completed future %d of %d is still in memory, while %d wait", i, len(s.done), len(s.waiting))
			}
		}
		runtime.KeepAlive(s)
	})
}
