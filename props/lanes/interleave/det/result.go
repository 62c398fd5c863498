package det

import (
	"fmt"
	"runtime/debug"
)

// Verdict says how a run ended.
type Verdict uint8

// The verdicts. Pruned runs show nothing.
const (
	Finished   Verdict = iota // every goroutine has ended
	Deadlocked                // nobody can go on, and the main goroutine has not ended
	Leaked                    // likewise, and only the main goroutine has ended
	Livelocked                // goes on for ever and gets nowhere, even if everybody has his turn
	OutOfSteps                // goes on past the step limit, and gets somewhere
	Panicked                  // a goroutine panicked
	Pruned                    // cut short by the strategy
)

var verdictNames = [...]string{"finished", "deadlock", "leak", "livelock", "out of steps", "panic", "pruned"}

func (v Verdict) String() string { return verdictNames[v] }

// Panic is a panic that left a goroutine.
type Panic struct {
	Value any
	Stack string
}

func newPanic(v any) *Panic { return &Panic{v, string(debug.Stack())} }

// Event is one operation of a traced run.
type Event struct {
	G     int // number of the goroutine; below Main: the clock
	Op    Op
	Value int64
	Site  string // file:line
	At    int64  // virtual time
	Obj   int    // number of what it is about, from 1 in the order of first appearance
	Write bool   // it changed that: what comes later on the same object comes after it
}

// Result is what a run showed. Switches is good until the next run.
type Result struct {
	Verdict     Verdict
	Steps       int // decisions, the forced ones included
	Events      int
	Handovers   int // goroutine switches
	Preemptions int // those away from one that could have gone on
	Class       uint64
	Switches    []Switch
	Panic       *Panic
	Blocked     []string // who is blocked where, if the verdict is about that
	PastLimit   bool     // the step limit was passed; it ended only when everybody had his turn
	Unfair      [8]uintptr
	NUnfair     int
	Trace       []Event
	Marks       []int // of a traced run: how long Trace was at each Mark
	Callbacks   []int // of a traced run: numbers of the goroutines that the clock made
	Clock       int   // moves of the clock
	Goroutines  int
	Races       int // that the detector reported, in a -race build
}

// NeedsFairness returns the places at which one goroutine ran on and on, with
// others waiting, until it was made to give way.
func (r *Result) NeedsFairness() []string {
	var sites []string
	for _, pc := range r.Unfair[:r.NUnfair] {
		sites = append(sites, lineOf(pc))
	}
	return sites
}

//go:norace
func (s *Sched) noteBlocked() {
	for _, g := range s.live {
		if g.status != ended {
			s.r.Blocked = append(s.r.Blocked, blockedText(g))
		}
	}
}

func blockedText(g *gor) string {
	what := "runnable before " + g.pendOp.String()
	if g.status == blocked {
		what = "blocked in " + g.pendOp.String()
	}
	at := ""
	if g.site != 0 {
		at = " at " + lineOf(g.site)
	}
	return fmt.Sprintf("g%d %s%s", g.id, what, at)
}

//go:norace
func (s *Sched) traceEvent(g *gor, o *Obj, op Op, write bool, value int64) {
	at := g.site // Enter's: what is recorded until the next Enter is one operation
	if at == 0 {
		at = callerOutside()
	}
	s.r.Trace = append(s.r.Trace, Event{G: g.id, Op: op, Value: value, Site: lineOf(at), At: s.now, Obj: s.numberOf(o), Write: write})
}

// Mark notes in a traced run how far it is. It is no scheduling point.
//
//go:norace
func Mark() {
	if s := current; s != nil && s.opt.Trace && !s.abort {
		s.r.Marks = append(s.r.Marks, len(s.r.Trace))
	}
}

// numberOf numbers the objects of a trace. It keeps a slice, since a map would be seen
// by the race detector.
//
//go:norace
func (s *Sched) numberOf(o *Obj) int {
	if o == nil {
		return 0
	}
	for i, known := range s.traced {
		if known == o {
			return i + 1
		}
	}
	s.traced = append(s.traced, o)
	return len(s.traced)
}
