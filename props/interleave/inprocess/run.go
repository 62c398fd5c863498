package inprocess

import (
	"fmt"
	"time"
)

// Controlled reports whether the binary was built with the overlay.
func Controlled() bool { return controlled }

// TimeMode says when the clock may move.
type TimeMode uint8

// The modes.
const (
	Idle        TimeMode = iota // only when no goroutine can run, to the earliest timer
	Adversarial                 // also when goroutines can run
	Boundary                    // likewise, and to a nanosecond before or after the timer
)

var modeNames = [...]string{"idle", "adversarial", "boundary"}

// String returns the name of the mode.
func (m TimeMode) String() string { return modeNames[m] }

// ParseTimeMode is the inverse of String.
func ParseTimeMode(s string) (TimeMode, bool) {
	for i, name := range modeNames {
		if name == s {
			return TimeMode(i), true
		}
	}
	return 0, false
}

// Options of a schedule.
type Options struct {
	MaxSteps int // operations after which goroutines go on in turn, for as many again; 0: DefaultMaxSteps
	FairAt   int // operations in a row, with other goroutines ready, after which a goroutine gives way; 0: 1000
	Time     TimeMode
	Trace    bool // keep every operation, with its source line
}

// Defaults of Options.
const (
	DefaultMaxSteps = 20000
	defaultFair     = 1000
)

// Driver is the number of the goroutine that runs the function. Other goroutines have the
// numbers behind it, in the order of their birth. Events of the clock have number Clock.
const (
	Clock  = 0
	Driver = 1
)

// Verdict says how a schedule ended.
type Verdict int

// The verdicts. A pruned schedule shows nothing new.
const (
	Finished   Verdict = iota // every goroutine has ended
	Deadlocked                // no goroutine can run, and the function has not returned
	Leaked                    // no goroutine can run, and the function has returned
	Livelocked                // goes on for ever, and no goroutine begins, ends, blocks or is woken
	OutOfSteps                // goes on past the limit
	Panicked                  // a goroutine panicked
	Pruned                    // the exhaustive strategy has seen the rest of it
)

var verdictNames = [...]string{"finished", "deadlock", "leak", "livelock", "out of steps", "panic", "pruned"}

// String returns the name of the verdict.
func (v Verdict) String() string { return verdictNames[v] }

// Result is what a schedule showed. It is valid until the next schedule.
type Result struct {
	Verdict    Verdict
	Steps      int // operations and moves of the clock
	Decisions  int // operations at which there was a choice
	Handovers  int // how often the turn went to another goroutine
	Class      uint64
	Switches   []Switch // with their lines, if the schedule was traced
	Panic      any
	Blocked    []string // goroutines that have not ended, and where they are
	Unfair     []string // lines at which a goroutine was made to give way
	Trace      []Event
	Marks      []int // of a traced schedule: how long Trace was at each call of control.Mark
	Callbacks  []int // of a traced schedule: goroutines that the clock started
	Goroutines int
	Races      int // that the detector reported
}

// abandoned is the number of goroutines that all schedules have left behind.
var abandoned int

// Abandoned returns how many goroutines the schedules have left behind that cannot end.
// They stay until the process ends. The race detector has room for 8,128 goroutines.
func Abandoned() int { return abandoned }

// Run runs body, and the goroutines that it starts, under the next schedule of a
// strategy, for which Begin has returned true. It returns when all have ended or no
// goroutine can run any more.
func Run(s *Strategy, o Options, body func()) *Result {
	clearPools()
	r := request{
		strategy: strategyNumber(s.engineName()), seed: s.seed, number: s.n, early: o.Time != Idle, beside: o.Time == Boundary,
		traced: o.Trace, fair: defaultFair, limit: DefaultMaxSteps, n: len(s.switches),
	}
	if o.FairAt > 0 {
		r.fair = uint64(o.FairAt)
	}
	if o.MaxSteps > 0 {
		r.limit = uint64(o.MaxSteps)
	}
	if turns := turnsOf(s.switches); len(turns) > 0 {
		r.switches = &turns[0]
	}
	growRoom(r.limit)
	r.room, r.nroom = &room[0], len(room)
	races := raceErrors()
	begin(&r)
	go body()
	end(&s.last)
	abandoned += s.last.abandoned
	out := s.last.result(o.Trace)
	out.Races = raceErrors() - races
	return out
}

// engineName is the name that the engine has for the strategy of the next schedule.
func (s *Strategy) engineName() string {
	if s.exhaustive() {
		return "dfs"
	}
	return s.Name()
}

// Number returns the number of the goroutine that had an id of the runtime in the
// schedule that was run last, or 0.
func Number(goid int64) int { return number(uint64(goid)) }

// Event is an operation of a traced schedule.
type Event struct {
	G      int           // number of the goroutine, or Clock
	Op     string        // as records of package protocol name it; "clock" for a move of the clock
	Site   string        // line of the program, as dir/file.go:12
	At     time.Duration // virtual time since the schedule began
	Object int           // number of the object, from 1 in the order of first use, or 0
	Write  bool          // the operation may change the object
	In     string        // of an operation Blocked: the one that had to wait
}

// Blocked is the Op of an attempt that had to wait. Another event of the goroutine follows
// when it goes on.
const Blocked = "blocked"

// text says where a goroutine is that has not ended.
func (s stop) text() string {
	what := "ready before " + opName(s.op)
	if s.waits {
		what = "blocked in " + opName(s.op)
	}
	if at := s.site.String(); at != "" {
		what += " at " + at
	}
	return fmt.Sprintf("g%d %s", s.g, what)
}
