package det

import (
	"runtime"
	"unsafe"
)

// Goroutine numbers of the clock: its moves are steps like those of goroutines,
// so that a strategy decides about time too.
const (
	ClockBefore = iota // to one nanosecond before the earliest deadline
	ClockAt            // to the earliest deadline
	ClockAfter         // to one nanosecond after it
	Main               // the goroutine that Run starts
)

// Strategy decides who goes on.
type Strategy interface {
	// Next returns an index into d.Runnable, or Prune to cut the run short. It
	// is called only where there is a choice. In a -race build it has to be
	// invisible to the detector: go:norace, no maps, no growing slices.
	Next(d *Decision) int
}

// Prune, returned by a Strategy, ends the run: nothing new would follow.
const Prune = -1

// Decision is what a strategy knows.
type Decision struct {
	Runnable []int  // numbers of goroutines, ascending
	Cur      int    // index in Runnable of the one that runs, or -1 if it cannot go on
	Prev     int    // number of the one that ran
	Key      uint64 // hash of what has happened, up to the order of independent events
	Case     bool   // it is about the ready cases of a select, not about goroutines
	s        *Sched
}

// Pending returns the operation that the i-th runnable goroutine is about to do:
// the object, nil if it is not known, and whether it may change it.
//
//go:norace
func (d *Decision) Pending(i int) (o *Obj, write bool) {
	id := d.Runnable[i]
	if id < Main {
		return &d.s.clockObj, true
	}
	g := d.s.gs[id-Main]
	return g.pendObj, g.pendWrite
}

// TimeMode says when the clock may move.
type TimeMode uint8

// The modes.
const (
	Idle        TimeMode = iota // only when nobody can run, to the earliest deadline
	Adversarial                 // also when others can run
	Boundary                    // likewise, and to a nanosecond beside the deadline
)

var modeNames = [...]string{"idle", "adversarial", "boundary"}

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

// Options of a run.
type Options struct {
	MaxSteps int // 0: DefaultMaxSteps
	FairAt   int // steps in a row, with others runnable, after which one gives way; 0: DefaultFairAt; negative: never
	Time     TimeMode
	Trace    bool // keep every event, with its source line
}

// Defaults of Options.
const (
	DefaultMaxSteps = 20000
	DefaultFairAt   = 1000
)

// status of a goroutine.
type status uint8

const (
	runnable status = iota
	blocked
	ended
)

const maxWaits = 8 // objects one goroutine can wait for at once

// gor is one goroutine.
type gor struct {
	id        int
	run       chan struct{}
	status    status
	yielded   bool
	waits     [maxWaits]*Obj
	nwaits    int
	pendObj   *Obj
	pendWrite bool
	pendOp    Op
	hash      uint64 // of its last event
	turns     int    // decisions made while it ran
	epoch     int64  // what goid returns
	site      uintptr
}

// Switch is a decision that differs from the default, which is to stay, or else
// to take the lowest number: when G has made N decisions, To is next.
type Switch struct {
	G    int    `json:"g"`
	N    int    `json:"n"`
	To   int    `json:"to"`
	Site string `json:"site,omitempty"` // where G was
}

// Sched is one run.
type Sched struct {
	st        Strategy
	opt       Options
	gs        []*gor
	live      []*gor // not ended
	cur       *gor
	prev      int // who ran before this decision
	row       int
	abort     bool
	full      bool // somebody wanted to start one goroutine too many
	mainEnded bool
	traced    []*Obj // of a run with a trace: the objects, by number

	runbuf       []int
	asWas        bool              // who can go on is who could: runbuf
	cases        [2 * maxWaits]int // of a select that can go on in several ways
	decision     Decision
	limit        int
	fair         bool // past the step limit: strictly in turn
	progress     int  // things that cannot go on for ever
	lastProgress int
	now          int64
	timers       []*alarm
	armed        int
	clockObj     Obj
	chans        []*chanState
	switches     []Switch
	clockTurns   int
	jumps        int // moves of the clock that were not forced
	yields       int
	r            Result
	fin          chan struct{}
}

// current is the run in progress, nil outside of one. There is one at a time.
var current *Sched

// runs numbers the runs; objects that outlive one forget what it left in them.
var runs uint32

var lastGoid int64

// Active reports whether a run is in progress.
//
//go:norace
func Active() bool { return current != nil }

// Operations counts instrumented operations since the process began: a lane in
// which it stays zero has tested nothing.
//
//go:norace
func Operations() uint64 { return operations }

var operations uint64

// Run runs body, and whatever it starts, under the strategy, and returns when
// all have ended or nothing more can happen. Runs do not overlap.
//
//go:norace
func Run(st Strategy, opt Options, body func()) *Result {
	if current != nil {
		panic("det: Run inside of a run")
	}
	if opt.MaxSteps == 0 {
		opt.MaxSteps = DefaultMaxSteps
	}
	if opt.FairAt == 0 {
		opt.FairAt = DefaultFairAt
	}
	s := newSched(st, opt)
	runs++
	refresh()
	races := raceErrors()
	current = s
	s.start(body, 0)
	first := s.gs[0]
	s.cur, s.prev = first, first.id
	raceOff()
	first.run <- struct{}{}
	<-s.fin
	raceOn()
	s.tearDown()
	raceAcquire(unsafe.Pointer(s))
	current = nil
	operations += uint64(s.r.Steps)
	s.r.Switches, s.r.Races, s.r.Goroutines = s.switches, raceErrors()-races, len(s.gs)
	return &s.r
}

var spare *Sched

//go:norace
func newSched(st Strategy, opt Options) *Sched {
	s := spare
	if s == nil {
		s = &Sched{
			gs: make([]*gor, 0, maxGoroutines), live: make([]*gor, 0, maxGoroutines),
			runbuf: make([]int, 0, maxGoroutines+Main), timers: make([]*alarm, 0, 64), chans: make([]*chanState, 0, 64),
			switches: make([]Switch, 0, 4096), fin: make(chan struct{}, 1),
		}
		spare = s
	}
	*s = Sched{
		st: st, opt: opt, limit: opt.MaxSteps,
		gs: s.gs[:0], live: s.live[:0], runbuf: s.runbuf[:0], timers: s.timers[:0], chans: s.chans[:0],
		switches: s.switches[:0], fin: s.fin,
	}
	s.decision.s = s
	return s
}

// maxGoroutines bounds the goroutines of a run; with more it is out of steps.
const maxGoroutines = 2048

// tearDown ends the goroutines that are still parked: each exits from where it
// is. Their deferred calls run, and exit at their first operation.
//
//go:norace
func (s *Sched) tearDown() {
	s.abort = true
	for i := 0; i < len(s.gs); i++ {
		g := s.gs[i]
		if g.status == ended {
			continue
		}
		s.cur = g
		raceOff()
		g.run <- struct{}{}
		<-s.fin
		raceOn()
	}
}

// start makes a goroutine. Its identity is where it was born, not when.
//
//go:norace
func (s *Sched) start(f func(), birth uint64) *gor {
	if len(s.gs) == maxGoroutines {
		s.full = true // pick ends the run
		return nil
	}
	lastGoid++
	w := newWorker(s.opt.Trace)
	g := &gor{id: len(s.gs) + Main, run: w.run, epoch: lastGoid, hash: mix(birth, 'g')}
	w.s, w.g, w.f, w.returned = s, g, f, false
	raceRelease(unsafe.Pointer(w)) // what came before the go statement is before its function
	s.gs = append(s.gs, g)
	s.live = append(s.live, g)
	s.asWas = false
	s.progress++
	return g
}

// Go is the go statement.
//
//go:norace
func Go(f func()) {
	s := current
	if s == nil {
		go f()
		return
	}
	Enter(nil, OpGo)
	g := s.cur
	s.start(f, g.hash)
	s.did(g, &s.clockObj, OpGo, false, 0)
}

//go:norace
func (s *Sched) drop(g *gor) {
	for i, x := range s.live {
		if x == g {
			for j := i + 1; j < len(s.live); j++ {
				s.live[j-1] = s.live[j]
			}
			s.live = s.live[:len(s.live)-1]
			return
		}
	}
}

// checkAbort ends a goroutine of a run that is over.
//
//go:norace
func (s *Sched) checkAbort() {
	if s.abort {
		runtime.Goexit()
	}
}

// finish ends the run; it returns only if g has ended.
//
//go:norace
func (s *Sched) finish(g *gor, v Verdict) {
	s.r.Verdict = v
	if v == Deadlocked || v == Leaked || v == Livelocked || v == OutOfSteps {
		s.noteBlocked()
	}
	raceOff()
	s.fin <- struct{}{}
	if g.status != ended {
		<-g.run
	}
	raceOn()
	if g.status != ended {
		runtime.Goexit()
	}
}

// Goid is the number of the calling goroutine: unique, as the runtime's are, and
// never used again by a later run. Outside of a run it is 0.
//
//go:norace
func Goid() (id int64, ok bool) {
	s := current
	if s == nil {
		return 0, false
	}
	s.checkAbort()
	return s.cur.epoch, true
}

// RoleOf returns the number of the goroutine that has this Goid in the run that
// was the last, or 0.
func RoleOf(id int64) int {
	if spare == nil {
		return 0
	}
	for _, g := range spare.gs {
		if g.epoch == id {
			return g.id
		}
	}
	return 0
}

// RunNumber counts runs. What outlives a run, such as a variable of a package,
// uses it to begin the next one empty.
//
//go:norace
func RunNumber() uint32 { return runs }

// Exit is the scheduling point before runtime.Goexit.
//
//go:norace
func Exit() {
	s := current
	if s == nil {
		return
	}
	Enter(nil, OpExit)
	s.did(s.cur, &s.clockObj, OpExit, false, 0)
}
