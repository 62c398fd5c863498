package core

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/petermattis/goid"
)

// Report has the counters of an executor and its shutdown. Termination.Report returns one at
// any time: before Done the progress so far, afterwards the sealed report.
//
// Rejected counts the refused tasks whose RejectedError has a State before Terminated.
// That is exact, for an executor and for a group: a refusal in a race with the end is
// counted if and only if its State is not Terminated. The Report of a group is the sum of
// its children's, so it does not count a refusal by a child that has terminated, even
// while other children have not. Stats.Rejected counts all refused tasks (G20). Refused
// timers, hooks and registrations are in neither count.
type Report struct {
	Accepted  int64 // tasks accepted, in the executor's whole life
	Ran       int64 // tasks that ran, including those that panicked
	Rejected  int64 // tasks refused with a RejectedError whose State is before Terminated
	Cancelled int64 // submitted functions skipped because their future was cancelled
	Panicked  int64 // panics of bodies and of listeners

	HooksRun        int64
	TimersRun       int64 // timer bodies run: each run of a periodic timer counts
	TimersCancelled int64 // timers that ended with ErrCancelled

	// The channels that ended since the shutdown call (G23): drained ones were flushed
	// and saw the end of the peer's stream, aborted ones ended in any other way.
	// BytesDiscarded counts bytes accepted by writes that were never handed to the
	// kernel. An executor without I/O has no channels.
	ChannelsDrained int64
	ChannelsAborted int64
	BytesDiscarded  int64

	// WritesRefused counts the writes that channels refused because of the shutdown, until
	// the end of the channel. Such a write may be the answer to an accepted request, computed
	// off the loop without a hold (core/tcp's Channel.Hold, Quiesce), or a message for which
	// nobody waits. A write after the end of the channel is logged and not counted.
	WritesRefused int64

	// ChannelsHeld counts those of ChannelsAborted that the shutdown closed while an
	// answer was in flight (core/tcp's Channel.Hold), so that an accepted request was not
	// answered. Held names the ten of them that were held longest: one line each with
	// the addresses and the beginning of the oldest hold, and a last line with the number of
	// the others. The Report of a group has such lines for each child.
	ChannelsHeld int64
	Held         string

	// TimedOut: admission was closed by the deadline. That is not an error: accepted work
	// still runs.
	TimedOut bool

	// Running names the body that ran when the deadline passed, with its stack. It is ""
	// if none ran. A body whose Context the deadline ends finds it set, except in a pool. The
	// stack is "(stack not found)" if it is not within the first MiB of the stacks of all
	// goroutines, which may happen with some thousands of goroutines. A tracked.Group reads
	// 4 MiB and lists several functions.
	Running string

	Quiet   time.Duration // as given to the first shutdown call
	Timeout time.Duration // likewise
	Elapsed time.Duration // since the shutdown call, until now or until Done; 0 before that call
}

// progressReport returns the Report before it is sealed.
func (e *Executor) progressReport() (r Report) {
	var now int64 // not used unless there was a shutdown call
	if e.State() >= StateShuttingDown {
		now = e.nowIfItCan()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reportAt(&r, now)
	return r
}

// reportAt sets r, which is a zero Report, to the Report at now. It returns none, because a Report
// is large: the end of the loop would need a larger stack to pass it on, and to grow the stack
// takes a third of a shutdown. Requires mu.
func (e *Executor) reportAt(r *Report, now int64) {
	c := e.counts()
	r.Accepted, r.Ran, r.Cancelled = c.Accepted, c.Ran, c.Cancelled
	r.Rejected, r.Panicked = e.rejected, e.panicked.Load()
	r.HooksRun, r.TimersRun, r.TimersCancelled = e.hooks.ran, e.timers.runs, e.timers.cancelled
	r.TimedOut, r.Running = e.shutdown.timedOut, e.shutdown.running
	r.Quiet, r.Timeout = e.shutdown.quiet, e.shutdown.timeout
	if e.io != nil {
		r.ChannelsDrained, r.ChannelsAborted, r.BytesDiscarded = e.io.drained, e.io.aborted, e.io.discarded
		r.WritesRefused = e.io.refused
		if r.ChannelsHeld = e.io.held.count; r.ChannelsHeld > 0 {
			r.Held = e.io.held.String()
		}
	}
	if e.shutdown.called {
		r.Elapsed = max(0, asDuration(now-e.shutdown.calledAt))
	}
}

// Plus returns the sum of two reports of different executors. Of durations it keeps the
// longer one.
func (r Report) Plus(s Report) Report {
	r.Accepted += s.Accepted
	r.Ran += s.Ran
	r.Rejected += s.Rejected
	r.Cancelled += s.Cancelled
	r.Panicked += s.Panicked
	r.HooksRun += s.HooksRun
	r.TimersRun += s.TimersRun
	r.TimersCancelled += s.TimersCancelled
	r.ChannelsDrained += s.ChannelsDrained
	r.ChannelsAborted += s.ChannelsAborted
	r.BytesDiscarded += s.BytesDiscarded
	r.WritesRefused += s.WritesRefused
	r.ChannelsHeld += s.ChannelsHeld
	if r.Held != "" && s.Held != "" {
		r.Held += "\n"
	}
	r.Held += s.Held
	r.TimedOut = r.TimedOut || s.TimedOut
	if s.Running != "" {
		r.Running += s.Running + "\n"
	}
	r.Quiet, r.Timeout = max(r.Quiet, s.Quiet), max(r.Timeout, s.Timeout)
	r.Elapsed = max(r.Elapsed, s.Elapsed)
	return r
}

// runningKind returns the kind of the body that the loop runs now. Requires mu.
func (e *Executor) runningKind() Body {
	kind, _ := e.runningCall()
	return kind
}

// runningCall returns the kind of the body that the loop runs now, and the number of the
// run, which no other run of the kind has: the first one is 1. Requires mu.
func (e *Executor) runningCall() (kind Body, number int64) {
	if b := e.body.Load(); b != int64(BodyNone) {
		return Body(b & (1<<bodyBits - 1)), b >> bodyBits
	}
	if c := e.tasks.Counts(); c.Running {
		return BodyTask, c.Begun()
	}
	if c := e.tails.Counts(); c.Running {
		return BodyTail, c.Begun()
	}
	return BodyNone, 0
}

// Running names the body that the loop runs now, with its stack as in Report.Running, or
// returns "" if none runs. It may be called from any goroutine, the loop included, and
// does not wait for the body. Outside the body call it only when you give up waiting: to
// read the stack of another goroutine it stops all goroutines.
func (e *Executor) Running() string {
	e.mu.Lock()
	body, owner := e.runningKind(), e.owner.Load()
	e.mu.Unlock()
	if body == BodyNone {
		return ""
	}
	return fmt.Sprintf("%s: a %s is running:\n%s", e.cfg.name, noun(body), stackOf(owner))
}

// describe names the body that runs on goroutine owner, with its stack.
func (e *Executor) describe(body Body, owner int64) string {
	if body == BodyNone {
		return ""
	}
	return fmt.Sprintf("%s: a %s was running when the timeout passed:\n%s", e.cfg.name, noun(body), stackOf(owner))
}

// noun names a kind of body in a sentence.
func noun(body Body) string {
	switch body {
	case BodyTail:
		return "tail task"
	case BodyReadiness:
		return "readiness handler"
	}
	return body.String()
}

// maxStackDump bounds what stacksOf reads, in bytes. The runtime gives the stack of another
// goroutine only as part of the stacks of all, and stops the world for that. This is
// acceptable for the timeout of a shutdown, which passes at most once in an executor's
// life, and for a call of Running or Meter.Stack.
const maxStackDump = 1 << 20

func stackOf(goroutine int64) string { return stacksOf(goroutine)[0] }

// stackNotFound stands for the stack of a goroutine that is not in the dump.
const stackNotFound = "(stack not found)"

// stacksOf returns the stack of each goroutine, from one dump. A dump that has all of them is not
// followed by a larger one. For the stack of its caller alone it stops no other goroutine.
func stacksOf(goroutines ...int64) []string {
	if len(goroutines) == 1 && goroutines[0] == goid.Get() {
		return []string{string(bytes.TrimSuffix(currentStack(), []byte("\n")))}
	}
	stacks := make([]string, len(goroutines))
	for size := 64 << 10; size <= maxStackDump; size *= 4 {
		dump := make([]byte, size)
		dump = dump[:runtime.Stack(dump, true)]
		all := len(dump) < size
		for i, goroutine := range goroutines {
			stacks[i] = findStack(dump, fmt.Sprintf("goroutine %d ", goroutine), all)
		}
		if all || !slices.Contains(stacks, stackNotFound) {
			break
		}
	}
	return stacks
}

// findStack returns the stack that begins with head, or stackNotFound. all says that dump holds
// the stacks of all goroutines; otherwise the last one may be cut off, and is not returned.
func findStack(dump []byte, head string, all bool) string {
	for len(dump) > 0 {
		part, rest, more := bytes.Cut(dump, []byte("\n\n"))
		if bytes.HasPrefix(part, []byte(head)) {
			if more || all {
				return string(part)
			}
			break
		}
		dump = rest
	}
	return stackNotFound
}
