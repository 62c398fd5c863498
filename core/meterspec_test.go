package core_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// meterOp is a step of the property of meters: it submits a task that takes a time, lets a time pass, reads the meter, some
// times in a row, or closes it.
type meterOp struct {
	kind string // task, pass, read or close
	d    time.Duration
	n    int // of the reads
}

// meterSpec computes what a meter of one goroutine measures: times are since NewMeter.
type meterSpec struct {
	now          time.Duration
	begins, ends []time.Duration // of the tasks
	reads        []time.Duration // those whose sample has no end yet
	behind       []int           // the last task before each of reads
	waits        []time.Duration
	wake         bool // a sample of a wake-up is wanted
	closed       bool
}

func (s *meterSpec) end() time.Duration {
	if len(s.ends) == 0 {
		return 0
	}
	return s.ends[len(s.ends)-1]
}

func (s *meterSpec) task(d time.Duration) {
	idle := s.end() <= s.now
	if idle && s.wake {
		s.wake, s.waits = false, append(s.waits, 0) // a wake-up takes no virtual time
	}
	begin := max(s.end(), s.now)
	s.begins, s.ends = append(s.begins, begin), append(s.ends, begin+d)
}

func (s *meterSpec) pass(d time.Duration) {
	s.now += d
	for len(s.reads) > 0 && s.ends[s.behind[0]] <= s.now {
		s.waits = append(s.waits, s.ends[s.behind[0]]-s.reads[0])
		s.reads, s.behind = s.reads[1:], s.behind[1:]
	}
}

// read returns what Read must return, without the Stats.
func (s *meterSpec) read() core.Reading {
	if s.closed {
		return core.Reading{}
	}
	r := core.Reading{Elapsed: s.now, Waits: s.waits}
	for i, begin := range s.begins {
		r.Busy += max(0, min(s.now, s.ends[i])-begin)
		if begin > s.now && r.Oldest == 0 { // the oldest one: was there a Read since?
			if k := slices.IndexFunc(s.behind, func(last int) bool { return last >= i }); k >= 0 {
				r.Oldest = s.now - s.reads[k]
			}
			break
		}
	}
	s.waits, s.wake = nil, true
	if s.end() > s.now {
		if len(s.reads) == mostSamples {
			s.reads, s.behind = everySecond(s.reads), everySecond(s.behind)
		}
		s.reads, s.behind = append(s.reads, s.now), append(s.behind, len(s.ends)-1)
	}
	return r
}

// mostSamples is how many samples of one meter may wait. If there is another one, every second one is dropped.
const mostSamples = 128

func everySecond[T any](all []T) (kept []T) {
	for i := 0; i < len(all); i += 2 {
		kept = append(kept, all[i])
	}
	return kept
}

// TestPropMeter: a meter of an executor, and of a pool of one worker, measures what meterSpec computes. Once it is
// closed, its readings have Stats and Running alone. It has the stack of the task that runs, and of no other.
func TestPropMeter(t *testing.T) {
	kinds := strings.Fields("task pass read task pass read task pass read task pass read task pass read task pass read close")
	ops := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) meterOp {
		return meterOp{
			kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
			d:    time.Duration(rapid.IntRange(0, 5).Draw(t, "seconds")) * time.Second,
			n:    rapid.SampledFrom([]int{1, 1, 1, 1, 1, 63, 127, 128, 129, 300}).Draw(t, "n"),
		}
	}), 6, 25)
	rapid.Check(t, func(rt *rapid.T) {
		for range 2 {
			program := append(ops.Draw(rt, "operations"), meterOp{kind: "close"}, meterOp{kind: "read", n: 1})
			checkInBubble(t, rt, func(t *testing.T) string {
				return cmp.Or(runMeterSpec(t, false, program), runMeterSpec(t, true, program))
			})
		}
	})
}

func runMeterSpec(t *testing.T, pool bool, program []meterOp) string {
	var ex metered
	if pool {
		ex = coretest.NewPool(t, 1)
	} else {
		ex = coretest.NewExecutor(t)
	}
	coretest.OnLoop(t, ex, func() {})
	synctest.Wait()
	m, s := ex.NewMeter(), &meterSpec{}
	var last core.RunningBody
	defer func() { time.Sleep(s.end() - s.now) }() // until the last task has ended
	for i, op := range program {
		switch op.kind {
		case "task":
			s.task(op.d)
			coretest.MustExecute(t, ex, sleeper(op.d))
			synctest.Wait()
			s.pass(0)
		case "pass":
			s.pass(op.d)
			time.Sleep(op.d)
			synctest.Wait()
		case "close":
			m.Close()
			s.closed = true
		default:
			for range op.n - 1 {
				s.read()
				m.Read()
				s.pass(time.Millisecond)
				time.Sleep(time.Millisecond)
				synctest.Wait()
			}
			want, got := s.read(), m.Read()
			slices.Sort(want.Waits)
			slices.Sort(got.Waits)
			running := slices.ContainsFunc(s.ends, func(end time.Duration) bool { return end > s.now })
			if got.Elapsed != want.Elapsed || got.Busy != want.Busy || got.Oldest != want.Oldest || !slices.Equal(got.Waits, want.Waits) {
				return fmt.Sprintf("step %d of %v: elapsed %v, busy %v, oldest %v, waits %v; want %v, %v, %v, %v", i, program,
					got.Elapsed, got.Busy, got.Oldest, got.Waits, want.Elapsed, want.Busy, want.Oldest, want.Waits)
			}
			if got.Stats.Accepted != int64(len(s.ends))+1 || (len(got.Running) == 1) != running {
				return fmt.Sprintf("step %d of %v: %d tasks were accepted, %v runs; want %d, %v", i, program, got.Stats.Accepted, got.Running, len(s.ends)+1, running)
			}
			if running && got.Running[0] != last {
				if stack := m.Stack(got.Running[0]); !strings.Contains(stack, "sleeper") || m.Stack(last) != "" {
					return fmt.Sprintf("step %d of %v: the stack of the task that runs is %q, and that of an ended one is not empty", i, program, stack)
				}
				last = got.Running[0]
			}
		}
	}
	return ""
}
