package det

import (
	"time"
	"unsafe"
)

// Epoch is the virtual time at which every run begins.
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// farAhead is from where on a timer is patient: it goes off only when nobody can run.
// A time-out longer than every one of core's own is the harness's patience, and to run
// out of that is no schedule of the program.
const farAhead = int64(20 * time.Second)

const maxTime = int64(1<<63 - 1)

// alarm is one armed timer.
type alarm struct {
	when    int64
	armed   bool
	patient bool         // see farAhead
	fire    func(*alarm) // runs as part of a move of the clock: no scheduling points
	hash    uint64       // of the event that armed it
}

// Alarm is an armed or stopped timer.
type Alarm struct {
	obj Obj
	a   alarm
	f   func()
	own bool
	g   *gor
}

// NewAlarm returns a timer that is not armed. When it goes off, f runs: on a
// goroutine of its own, or, if inline, as part of the clock's move, and then it
// must not contain a scheduling point.
//
//go:norace
func NewAlarm(f func(), inline bool) *Alarm {
	x := &Alarm{f: f, own: !inline}
	x.a.fire = x.fire
	return x
}

//go:norace
func (x *Alarm) fire(a *alarm) {
	s := current
	if !x.own {
		x.f()
		return
	}
	f := x.f
	starter(func() {
		g := s.start(func() {
			raceAcquire(unsafe.Pointer(x))
			f()
		}, mix(a.hash, s.clockObj.writes))
		if s.opt.Trace && g != nil {
			s.r.Callbacks = append(s.r.Callbacks, g.id)
		}
	})
}

// Set arms the timer, and reports whether it was armed.
//
//go:norace
func (x *Alarm) Set(d time.Duration) (was bool) {
	s := current
	if s == nil {
		panic("det: a timer outside of a run")
	}
	Enter(&x.obj, OpTimer)
	was = x.disarm()
	raceRelease(unsafe.Pointer(x))
	Did(&x.obj, OpTimer, true, int64(d))
	x.a.hash = s.cur.hash
	s.arm(&x.a, d)
	return was
}

// Stop disarms the timer, and reports whether it was armed.
//
//go:norace
func (x *Alarm) Stop() (was bool) {
	if current == nil {
		return false
	}
	Enter(&x.obj, OpTimer)
	was = x.disarm()
	Did(&x.obj, OpTimer, true, -1)
	return was
}

//go:norace
func (x *Alarm) disarm() bool {
	s := current
	if !x.a.armed {
		return false
	}
	for i, a := range s.timers {
		if a == &x.a {
			s.disarm(i)
			return true
		}
	}
	return false // of an earlier run
}

//go:norace
func (s *Sched) arm(a *alarm, d time.Duration) {
	a.when = s.now + max(0, int64(d))
	if a.when < 0 {
		a.when = maxTime
	}
	a.armed, a.patient = true, int64(d) >= farAhead
	if len(s.timers) == cap(s.timers) {
		grown := make([]*alarm, len(s.timers), 2*cap(s.timers))
		copy(grown, s.timers)
		s.timers = grown
	}
	s.timers = append(s.timers, a)
	s.armed++
}

// disarm keeps the order in which timers were armed.
//
//go:norace
func (s *Sched) disarm(i int) {
	s.timers[i].armed = false
	for j := i + 1; j < len(s.timers); j++ {
		s.timers[j-1] = s.timers[j]
	}
	s.timers = s.timers[:len(s.timers)-1]
	s.armed--
}

//go:norace
func (s *Sched) earliest() int64 {
	first := maxTime
	for _, a := range s.timers {
		first = min(first, a.when)
	}
	return first
}

// mostJumps bounds the moves of the clock, in one run, while others can run: a
// periodic timer would otherwise keep it going for ever.
const mostJumps = 40

// mayJump reports whether the clock may move though others can run.
//
//go:norace
func (s *Sched) mayJump() bool {
	if s.jumps >= mostJumps {
		return false
	}
	var first *alarm
	for _, a := range s.timers {
		if first == nil || a.when < first.when {
			first = a
		}
	}
	return !first.patient
}

// clockMoves adds the moves that the clock has.
//
//go:norace
func (s *Sched) clockMoves(rb []int) []int {
	first := s.earliest()
	if first == maxTime {
		return rb // never
	}
	if s.opt.Time == Boundary && s.now < first-1 {
		rb = append(rb, ClockBefore)
	}
	rb = append(rb, ClockAt)
	if s.opt.Time == Boundary {
		rb = append(rb, ClockAfter)
	}
	return rb
}

// moveClock moves the clock, and sets off what is due then.
//
//go:norace
func (s *Sched) moveClock(move int) {
	to := s.earliest()
	switch move {
	case ClockBefore:
		to--
	case ClockAfter:
		to++
	}
	s.now = max(s.now, to)
	s.progress++
	s.r.Clock++
	if s.clockObj.run != runs {
		s.clockObj = Obj{run: runs}
	}
	h := mix(mix(s.clockObj.writes+s.clockObj.reads, uint64(move)), uint64(s.now))
	s.clockObj.writes, s.clockObj.reads = h, 0
	s.r.Class += h
	if s.opt.Trace {
		s.r.Trace = append(s.r.Trace, Event{G: move, Op: OpTick, Value: s.now, At: s.now})
	}
	for i := 0; i < len(s.timers); {
		a := s.timers[i]
		if a.when > s.now {
			i++
			continue
		}
		s.disarm(i)
		a.fire(a)
	}
}

// Now is the virtual time. Where the clock may move beside others, to read it is a
// scheduling point.
//
//go:norace
func Now() time.Time {
	s := current
	if s == nil {
		return Epoch
	}
	if s.opt.Time != Idle {
		Enter(&s.clockObj, OpNow)
		Did(&s.clockObj, OpNow, false, s.now)
	}
	return Epoch.Add(time.Duration(s.now))
}

// QuietNow is Now without the scheduling point.
//
//go:norace
func QuietNow() time.Time {
	s := current
	if s == nil {
		return Epoch
	}
	return Epoch.Add(time.Duration(s.now))
}

// Sleep is time.Sleep.
//
//go:norace
func Sleep(d time.Duration) {
	s := current
	if s == nil {
		time.Sleep(d)
		return
	}
	if d <= 0 {
		return
	}
	x := &Alarm{}
	over := false
	x.a.fire = func(*alarm) {
		over = true
		Wake(&x.obj)
	}
	Enter(&x.obj, OpSleep)
	Did(&x.obj, OpSleep, true, int64(d))
	s.arm(&x.a, d)
	for !over {
		Block(OpSleep, &x.obj)
	}
	Did(&s.clockObj, OpWaited, false, 0) // it follows the clock
}

// starter runs f. In a -race build it does so on a goroutine of its own, so that a
// goroutine which the clock starts does not seem to be ordered after whoever ran
// when the clock moved.
//
//go:norace
func starter(f func()) {
	if !RaceBuild {
		f()
		return
	}
	if starterJobs == nil {
		starterJobs, starterDone = make(chan func()), make(chan struct{})
		go starterMain()
	}
	raceOff()
	starterJobs <- f
	<-starterDone
	raceOn()
}

var (
	starterJobs chan func()
	starterDone chan struct{}
)

//go:norace
func starterMain() {
	raceOff()
	for f := range starterJobs {
		f()
		starterDone <- struct{}{}
	}
}

// Ring puts the time into the channel of a timer, unless it is full. Part of a
// move of the clock.
//
//go:norace
func Ring(c chan time.Time) {
	s := current
	select {
	case c <- Epoch.Add(time.Duration(s.now)):
	default:
	}
	cs := stateOf(*(*unsafe.Pointer)(unsafe.Pointer(&c)))
	if cs.obj.run != runs {
		cs.obj = Obj{run: runs}
	}
	cs.obj.writes, cs.obj.reads = mix(cs.obj.writes+cs.obj.reads, s.clockObj.writes), 0
	Wake(&cs.obj)
}

// Again arms a timer from its own function. Part of a move of the clock.
//
//go:norace
func (x *Alarm) Again(d time.Duration) { current.arm(&x.a, d) }
