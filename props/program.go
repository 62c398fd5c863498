package props

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"eventide/core"
	"eventide/props/history"
)

// Program is what several goroutines do with one executor. It is a test case as data, so
// that it can be generated, minimised, printed, kept in a file, and run again.
type Program struct {
	Limit   int                 `json:"limit,omitempty"` // WithMaxPendingTasks; 0: no bound
	Retries int                 `json:"retries,omitempty"`
	Timers  history.TimerPolicy `json:"timers,omitempty"`
	Jitter  time.Duration       `json:"jitter,omitempty"` // bound of WithTimerJitter, whose source is halfway; 0: no jitter
	Starts  []Start             `json:"starts,omitempty"` // results of the spawner, in order; then StartOK
	Actors  []Actor             `json:"actors"`
	Main    bool                `json:"main,omitempty"` // the goroutine that runs the program is the last actor

	Clock   Clock   `json:"clock,omitempty"`
	Handler Handler `json:"handler,omitempty"` // the panic handler

	Handling []Step `json:"handling,omitempty"` // calls of the panic handler, if it makes calls
	Spawning []Step `json:"spawning,omitempty"` // calls of the spawner at the first StartCallback

	Pool int `json:"pool,omitempty"` // the size of a pool; 0: an executor

	Scripted bool `json:"scripted,omitempty"` // an executor without I/O over the scripted poller

	Loop  bool                `json:"loop,omitempty"`  // an event loop over the scripted poller
	Drain history.DrainPolicy `json:"drain,omitempty"` // of an event loop
	Ratio int                 `json:"ratio,omitempty"` // likewise, of WithIORatio; 0: the default
	Spin  time.Duration       `json:"spin,omitempty"`  // likewise over epoll, of WithSpin; 0: the default, negative: no spin
}

// Start is one result of the spawner.
type Start string

// The results.
const (
	StartOK       Start = "ok"
	StartRefused  Start = "refused"  // returns an error
	StartSlow     Start = "slow"     // sleeps first
	StartCallback Start = "callback" // makes calls on the executor
	StartInline   Start = "inline"   // runs the loop on the calling goroutine, before it returns
	StartTwice    Start = "twice"    // runs it on two goroutines
	StartLate     Start = "late"     // starts the loop, but returns an error
	StartPanic    Start = "panic"
	StartBoth     Start = "both" // runs the loop on the calling goroutine, and then returns an error
)

// Actor is one goroutine.
type Actor struct {
	Steps []Step `json:"steps"`
}

// Step is one call, after a wait in virtual time.
type Step struct {
	Wait    time.Duration `json:"wait,omitempty"`
	Op      history.Op    `json:"op,omitempty"`
	ID      int           `json:"id,omitempty"`     // label of the submitted body
	Target  int           `json:"target,omitempty"` // label of the body to cancel or to remove
	Delay   time.Duration `json:"delay,omitempty"`
	Period  time.Duration `json:"period,omitempty"`
	Quiet   time.Duration `json:"quiet,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"`
	Body    *Script       `json:"body,omitempty"`
	Try     bool          `json:"try,omitempty"`   // of an Execute: it is a TryExecute
	Own     bool          `json:"own,omitempty"`   // of a Schedule: it is a ScheduleTimer
	From    int           `json:"from,omitempty"`  // label of the timer that it uses again, if that has ended
	Times   int           `json:"times,omitempty"` // the call is made so often, each time with another label
	Ask     Ask           `json:"ask,omitempty"`   // a call that the model does not know, instead of Op
	Size    int           `json:"size,omitempty"`  // of a pool, for AskResize

	// For descriptors. A step with an Env is not a call, and has no Op.
	Env      Env             `json:"env,omitempty"`
	Fault    Fault           `json:"fault,omitempty"`
	FD       int             `json:"fd,omitempty"`
	Interest core.Interest   `json:"interest,omitempty"`
	Drain    time.Duration   `json:"drain,omitempty"`  // a channel ends this time after Drain; negative: never
	Linger   time.Duration   `json:"linger,omitempty"` // an aborted channel ends after this time
	Bytes    int             `json:"bytes,omitempty"`  // bytes that an aborted channel discards
	AskedEnd history.Outcome `json:"askedEnd,omitempty"`
	Asked    *Script         `json:"asked,omitempty"` // of a channel: what the first call of Drain or Abort does, before it ends the channel
}

// Script describes a body: it takes time, makes calls and ends.
type Script struct {
	Sleep    time.Duration   `json:"sleep,omitempty"`
	Await    bool            `json:"await,omitempty"`    // waits for Context().Done()
	Steps    []Step          `json:"steps,omitempty"`    // calls on the loop; their Wait is not used
	End      history.Outcome `json:"end,omitempty"`      // Normal, Panicked or Exited
	Listen   bool            `json:"listen,omitempty"`   // a Submit gets a listener
	Again    int             `json:"again,omitempty"`    // how often a task submits itself
	LastRun  int             `json:"lastRun,omitempty"`  // of a periodic timer: End applies to this run
	Listener *Script         `json:"listener,omitempty"` // the script of the listener
}

// GoString returns one line, because rapid prints drawn values with %#v.
func (p Program) GoString() string {
	calls := 0
	for _, a := range p.Actors {
		calls += len(a.Steps)
	}
	return fmt.Sprintf("props.Program{/* %d calls of %d actors */}", calls, len(p.Actors))
}

// String returns the program with one call per line.
func (p Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "executor: limit=%d retries=%d timers=%v starts=%v", p.Limit, p.Retries, p.Timers, p.Starts)
	if p.Jitter > 0 {
		fmt.Fprintf(&b, " jitter=%v", p.Jitter)
	}
	b.WriteByte('\n')
	if p.Loop {
		fmt.Fprintf(&b, "event loop: drain=%v ratio=%d", p.Drain, p.ratio())
		if p.Spin != 0 {
			fmt.Fprintf(&b, " spin=%v", p.Spin)
		}
		b.WriteByte('\n')
	}
	if p.Clock != ClockCounted {
		fmt.Fprintf(&b, "clock: %s\n", p.Clock)
	}
	if p.Scripted {
		b.WriteString("over the scripted poller\n")
	}
	if p.Handler != HandlerNone {
		fmt.Fprintf(&b, "panic handler: %s\n", p.Handler)
		writeSteps(&b, "  > ", p.Handling)
	}
	if len(p.Spawning) > 0 {
		b.WriteString("spawner:\n")
		writeSteps(&b, "  > ", p.Spawning)
	}
	if p.Pool > 0 {
		fmt.Fprintf(&b, "pool: size=%d\n", p.Pool)
	}
	for i, a := range p.Actors {
		fmt.Fprintf(&b, "%s:\n", p.nameOf(i))
		writeSteps(&b, "  ", a.Steps)
	}
	return b.String()
}

// nameOf is the name of an actor in the text of the program and in reports.
func (p Program) nameOf(actor int) string {
	if p.Main && actor == len(p.Actors)-1 {
		return "main"
	}
	return fmt.Sprintf("g%d", actor+1)
}

// NamesOf returns the names of the goroutines that ran the actors.
func (p Program) NamesOf(goroutines []int64) map[int64]string {
	names := make(map[int64]string, len(goroutines))
	for i, g := range goroutines {
		if g != 0 {
			names[g] = p.nameOf(i)
		}
	}
	return names
}

// ratio is the share of the handlers of an event loop, in percent.
func (p Program) ratio() int { return cmp.Or(p.Ratio, 50) }

// breaks reports whether the poller of the program may fail permanently.
func (p Program) breaks() bool {
	return p.AnyStep(func(s *Step) bool { return s.Fault.ends() || s.Env == EnvClock && !s.Fault.jumps() })
}

// AnyStep reports whether is returns true for some step, including the steps of bodies. A Step is
// large, so AnyStep copies none.
func (p Program) AnyStep(is func(*Step) bool) bool {
	return slices.ContainsFunc(p.Actors, func(a Actor) bool { return anyStep(a.Steps, is) }) ||
		anyStep(p.Handling, is) || anyStep(p.Spawning, is)
}

// awaits reports whether the body of that label waits for Context as soon as it has begun.
func (p Program) awaits(id int) bool {
	return p.AnyStep(func(s *Step) bool { return s.ID == id && s.Body != nil && s.Body.Await })
}

func anyStep(steps []Step, is func(*Step) bool) bool {
	for i := range steps {
		s := &steps[i]
		if is(s) || s.Body != nil && (anyStep(s.Body.Steps, is) || s.Body.Listener != nil && anyStep(s.Body.Listener.Steps, is)) ||
			s.Asked != nil && anyStep(s.Asked.Steps, is) {
			return true
		}
	}
	return false
}

func writeSteps(b *strings.Builder, indent string, steps []Step) {
	for _, s := range steps {
		fmt.Fprintf(b, "%s%s\n", indent, s)
		if s.Body != nil {
			if s.Body.Listener != nil {
				writeSteps(b, indent+"  | ", s.Body.Listener.Steps)
			}
			writeSteps(b, indent+"  > ", s.Body.Steps)
		}
		if s.Asked != nil {
			writeSteps(b, indent+"  asked > ", s.Asked.Steps)
		}
	}
}

// String returns the call without the calls of its body.
func (s Step) String() string {
	var b strings.Builder
	if s.Wait > 0 {
		fmt.Fprintf(&b, "after %v ", s.Wait)
	}
	switch {
	case s.Env != "":
		fmt.Fprintf(&b, "%s %s", s.Env, s.Fault)
	case s.Ask != "":
		b.WriteString(string(s.Ask))
	default:
		b.WriteString(s.Op.String())
	}
	if s.Try {
		b.WriteString(" (try)")
	}
	if s.Own {
		b.WriteString(" (own)")
	}
	for _, part := range []struct {
		name  string
		value any
		set   bool
	}{
		{"", s.ID, s.ID != 0}, {"times ", s.Times, s.Times != 0}, {"of ", s.Target, s.Target != 0}, {"from ", s.From, s.From != 0},
		{"in ", s.Delay, s.Op.Timers()}, {"every ", s.Period, s.Period != 0},
		{"quiet=", s.Quiet, s.Op == history.OpShutdownGracefully},
		{"timeout=", s.Timeout, s.Op == history.OpShutdownGracefully},
		{"fd=", s.FD, s.FD != 0}, {"interest=", s.Interest, s.Op.Registers() || s.Op == history.OpModify},
		{"drains after ", s.Drain, s.Drain != 0}, {"lingers ", s.Linger, s.Linger != 0}, {"bytes=", s.Bytes, s.Bytes != 0},
		{"ends asked ", s.AskedEnd, s.AskedEnd != 0}, {"size=", s.Size, s.Size != 0},
	} {
		if part.set {
			fmt.Fprintf(&b, " %s%v", part.name, part.value)
		}
	}
	if s.Body != nil {
		b.WriteString(s.Body.summary())
	}
	if s.Asked != nil {
		b.WriteString(" when asked" + cmp.Or(s.Asked.summary(), " {}"))
	}
	return b.String()
}

func (s *Script) summary() string {
	var parts []string
	if s.Sleep > 0 {
		parts = append(parts, fmt.Sprintf("sleeps %v", s.Sleep))
	}
	if s.Await {
		parts = append(parts, "waits for Context")
	}
	if s.Again > 0 {
		parts = append(parts, fmt.Sprintf("resubmits itself %d times", s.Again))
	}
	if s.Listen {
		parts = append(parts, "has a listener")
	}
	if s.End == history.Panicked || s.End == history.Exited {
		end := "ends " + s.End.String()
		if s.LastRun > 0 {
			end += fmt.Sprintf(" in run %d", s.LastRun)
		}
		parts = append(parts, end)
	}
	if len(parts) == 0 {
		return ""
	}
	return " {" + strings.Join(parts, ", ") + "}"
}
