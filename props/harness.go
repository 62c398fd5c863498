package props

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/props/history"
	"eventide/props/interleave/control"

	"github.com/petermattis/goid"
)

// patience is how long a program may take to terminate after its last call, in virtual
// time: longer than any timeout of a program that has to pass.
const patience = time.Minute

// Recording has the observations of one run of a program.
type Recording struct {
	Events     []history.Event
	AlarmsLeft int  // alarms of the executor that were still set after Done (G24)
	Unfinished bool // the events end before the run does: missing events are no violation

	Goroutines []int64  // of the actors of the program, in their order; 0: the actor did not begin
	Final      *Final   // nil: the executor has not terminated, or the lane does not read it
	Samples    []Sample // in their order
	Reports    []ReportSample
	Resized    []Resized // of a pool
	Asides     []Aside
	Wrong      string // the first contradiction between answers of the executor; see harness.look
}

// Run runs the program on core, in the testing/synctest bubble of the caller. Goroutines
// are real; time is virtual. Run returns when the executor has terminated and every
// goroutine of the program has ended, or when patience has passed.
func Run(p Program) Recording { return RunIn(nil, p) }

// RunIn is Run with a buffer for the events, for a caller that makes one run after
// another. The recording takes over buf; the caller must not use it any more.
func RunIn(buf []history.Event, p Program) Recording {
	growStack(false)
	return newHarness(p, buf).run(p)
}

func (h *harness) run(p Program) Recording {
	var actors sync.WaitGroup
	others, own := p.Actors, Actor{}
	if n := len(others); p.Main && n > 0 {
		others, own = others[:n-1], others[n-1]
	}
	goroutines := make([]int64, len(p.Actors))
	for i, a := range others {
		actors.Go(func() {
			growStack(false)
			goroutines[i] = goid.Get()
			h.steps(a.Steps, true)
		})
	}
	if p.Main && len(p.Actors) > 0 {
		goroutines[len(others)] = goid.Get()
	}
	h.steps(own.Steps, true)
	actors.Wait()
	h.end()
	h.stopOther()
	out := Recording{
		Events: h.rec.events(), AlarmsLeft: h.alarmsLeft, Goroutines: goroutines, Final: h.said,
		Samples: h.samples, Reports: h.reports, Resized: h.sizes, Asides: h.asides,
	}
	if wrong := h.wrong.Load(); wrong != nil {
		out.Wrong = *wrong
	}
	return out
}

// harness drives one executor.
type harness struct {
	rec   *recorder
	ex    executor
	fds   descriptors
	start time.Time // of the log
	real  bool      // runs in real time

	clock      clock
	alarmsLeft int         // set by end
	gaveUp     atomic.Bool // the executor did not terminate
	othersEnd  bool        // set once: the executor may fail, or has several workers, so that not only the timeout ends Context
	said       *Final      // set by end

	refusedEarly atomic.Int64           // see Final
	wrong        atomic.Pointer[string] // see look
	traced       atomic.Bool            // Running was called inside a body
	looped       atomic.Bool            // a body has begun
	closed       atomic.Bool            // admission was closed when the last body ended
	begunAt      atomic.Int64           // when lookAtBegun first saw a shutdown call, after start; 0: never
	endings      sync.WaitGroup         // listeners of the termination that were not called
	lastCalls    atomic.Bool            // one of them had a script
	promises     promises
	started      goroutines
	startsSeen   bool // set once: the executor has a function of WithGoroutineStart
	posts        posts
	reporter     reporter
	meter        *meter       // guarded by mu until the end
	polled       *poller      // set once; nil: the executor has its default poller, or a real one
	saidFailed   atomic.Bool  // Modify has returned that the loop has failed
	handler      Handler      // of the program
	resizing     atomic.Int64 // calls of Resize that have begun
	resized      atomic.Int64 // and those that have returned
	sizes        []Resized    // guarded by mu
	asides       []Aside      // guarded by mu

	other atomic.Pointer[core.Executor] // that of elsewhere, if there is one

	sampling control.Mutex
	common   []history.Stats // guarded by sampling: memory for the next samples of the log
	samples  []Sample        // guarded by sampling
	extra    atomic.Int64

	mu           control.Mutex
	starts       []Start        // the next results of the spawner
	callbacks    []Step         // calls of the spawner that it has not made
	spawning     map[int64]int  // calls of the spawner that make calls, by goroutine
	failedStarts map[Start]bool // the failures so far, see kindOfStart
	futures      map[int]*core.Future[int]
	timers       map[int]*core.Timer
	removes      map[int]func() bool
	runs         map[int]int
	listeners    map[int]int // number of listeners added to a future
	oneShots     map[int]bool
	claims       map[int]int             // calls on a timer or hook in progress
	reused       map[int]history.Outcome // how the timers ended that ScheduleTimer has taken
	dues         map[int]due             // by timer: in its last run
	shut         shutdownLooks
	reports      []ReportSample
}

func emptyHarness(p Program, buf []history.Event) *harness {
	h := &harness{
		starts: p.Starts, callbacks: p.Spawning, failedStarts: map[Start]bool{}, handler: p.Handler,
		futures: map[int]*core.Future[int]{}, timers: map[int]*core.Timer{},
		removes: map[int]func() bool{}, runs: map[int]int{}, listeners: map[int]int{}, start: time.Now(),
		oneShots: map[int]bool{}, dues: map[int]due{}, claims: map[int]int{}, reused: map[int]history.Outcome{},
		fds: descriptors{byID: map[int]*registration{}},
	}
	h.reporter.h = h
	h.clock.start, h.clock.of = h.start, h
	h.othersEnd = p.breaks() || len(p.Starts) > 0 || p.Overlaps()
	if p.Clock == ClockRounded {
		h.clock.grain = clockGrain
	}
	if p.Clock == ClockRounded || jumpsAhead(p) {
		h.rec = newRecorder(buf, func() time.Duration { return h.clock.reading().Sub(h.start) })
	} else {
		h.rec = newRecorder(buf, nil)
	}
	if p.clockFaults() {
		h.clock.h, h.rec.fails = h, true
	}
	return h
}

// options returns the options of both lanes.
func (h *harness) options(p Program) []core.Option {
	opts := []core.Option{
		core.WithTracer(h.rec), core.WithSpawner(h.spawn),
		core.WithTimersAtShutdown(p.Timers),
		core.WithLogger(slog.New(&h.reporter)),
	}
	if p.Clock != ClockSystem { // such a program has the defaults
		h.startsSeen = true
		opts = append(opts, core.WithGoroutineStart(h.goroutineStarts))
	}
	if p.Handler != HandlerNone {
		opts = append(opts, core.WithPanicHandler(h.reporter.handler(p)))
	}
	if p.Limit > 0 {
		opts = append(opts, core.WithMaxPendingTasks(p.Limit))
	}
	if p.Retries > 0 {
		opts = append(opts, core.WithRejectedHandler(core.BackOff(p.Retries, retryPause)))
	}
	if p.Jitter > 0 {
		opts = append(opts, core.WithTimerJitter(p.Jitter, halfway{}))
	}
	return opts
}

// halfway is the source of a jitter that delays each run by half of the bound, so that
// history.Rules can say when a run is due.
type halfway struct{}

func (halfway) Uint64() uint64 { return 1 << 63 }

func newHarness(p Program, buf []history.Event) *harness {
	h := emptyHarness(p, buf)
	opts, own := h.options(p), core.Clock(nil)
	if p.Clock != ClockSystem {
		own = &h.clock
		opts = append(opts, core.WithClock(own))
	}
	if p.Loop {
		kernel := newPoller(own, h.rec)
		loop, err := core.NewEventLoop(append(opts, core.WithPoller(kernel), core.WithDrain(p.Drain), core.WithIORatio(p.ratio()))...)
		if err != nil {
			panic(err)
		}
		h.fds.loop, h.fds.kernel, h.ex = loop, kernel, &loop.Executor
		h.compareUse(kernel, p)
		return h
	}
	var err error
	switch {
	case p.Pool > 0:
		h.ex, err = core.NewPool(p.Pool, opts...)
	case p.Scripted:
		kernel := newPoller(own, h.rec)
		kernel.faults.plain = true
		h.fds.kernel = kernel
		h.compareUse(kernel, p)
		h.ex, err = core.NewExecutor(append(opts, core.WithPoller(kernel))...)
	default:
		h.ex, err = core.NewExecutor(opts...)
	}
	if err != nil {
		panic(err) // the generator makes only valid options
	}
	return h
}
