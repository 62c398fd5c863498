package props

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/internal/vocabulary"
	"eventide/props/history"
	"eventide/props/interleave/control"

	"github.com/petermattis/goid"
)

// patience is how long a program may take to terminate after its last call, in virtual
// time: longer than any timeout of a program that has to pass.
const patience = time.Minute

// Recording is what was observed in a run of a program.
type Recording struct {
	Events     []history.Event
	AlarmsLeft int  // alarms of the executor that were still set after Done (G24)
	Unfinished bool // the events end before the run does: missing events are no violation

	Goroutines []int64 // of the actors of the program, in their order; 0: the actor did not begin
	Final      *Final  // nil: the executor has not terminated, or nobody asked it
	Wrong      string  // answers that contradict each other; see harness.look
}

// Run runs the program on core, in the testing/synctest bubble of the caller. Goroutines
// are real; time is virtual. Run returns when the executor has terminated and every
// goroutine of the program has ended, or when patience is over.
func Run(p Program) Recording { return RunIn(nil, p) }

// RunIn is Run with a buffer for the events, for a caller that makes one run after
// another. The recording takes over buf; the caller must not use it any more.
func RunIn(buf []history.Event, p Program) Recording { return newHarness(p, buf).run(p) }

func (h *harness) run(p Program) Recording {
	var actors sync.WaitGroup
	others, own := p.Actors, Actor{}
	if n := len(others); p.Main && n > 0 {
		others, own = others[:n-1], others[n-1]
	}
	goroutines := make([]int64, len(p.Actors))
	for i, a := range others {
		actors.Go(func() {
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
	out := Recording{Events: h.rec.log.Take(), AlarmsLeft: h.alarmsLeft, Goroutines: goroutines, Final: h.said}
	if wrong := h.wrong.Load(); wrong != nil {
		out.Wrong = *wrong
	}
	return out
}

// harness drives one executor.
type harness struct {
	rec   *recorder
	ex    *core.Executor
	fds   descriptors
	start time.Time // of the log
	real  bool      // runs in real time

	clock      clock
	alarmsLeft int         // set by end
	gaveUp     atomic.Bool // the executor did not terminate
	said       *Final      // set by end

	refusedEarly atomic.Int64           // see Final
	wrong        atomic.Pointer[string] // see look
	traced       atomic.Bool            // Running was called inside a body
	looped       atomic.Bool            // a body has begun
	endings      sync.WaitGroup         // listeners of the termination that were not called
	promises     promises

	sampling control.Mutex
	samples  []history.Stats // guarded by sampling: memory for the next samples
	extra    atomic.Int64

	mu        control.Mutex
	starts    []Start // the next results of the spawner
	futures   map[int]*core.Future[int]
	timers    map[int]*core.Timer
	removes   map[int]func() bool
	runs      map[int]int
	listeners map[int]int // number of listeners added to a future
}

func emptyHarness(p Program, buf []history.Event) *harness {
	return &harness{
		rec: newRecorder(buf), starts: p.Starts,
		futures: map[int]*core.Future[int]{}, timers: map[int]*core.Timer{},
		removes: map[int]func() bool{}, runs: map[int]int{}, listeners: map[int]int{}, start: time.Now(),
		fds: descriptors{byID: map[int]*registration{}},
	}
}

// options returns the options of both lanes.
func (h *harness) options(p Program) []core.Option {
	opts := []core.Option{
		core.WithTracer(h.rec), core.WithSpawner(h.spawn),
		core.WithTimersAtShutdown(p.Timers),
		core.WithLogger(slog.New(slog.DiscardHandler)), // panics of programs are expected
	}
	if p.Limit > 0 {
		opts = append(opts, core.WithMaxPendingTasks(p.Limit))
	}
	if p.Retries > 0 {
		opts = append(opts, core.WithRejectedHandler(core.BackOff(p.Retries, time.Millisecond)))
	}
	return opts
}

func newHarness(p Program, buf []history.Event) *harness {
	h := emptyHarness(p, buf)
	opts := append(h.options(p), core.WithClock(&h.clock))
	if p.Loop {
		kernel := newPoller(&h.clock, h.rec)
		loop, err := core.NewEventLoop(append(opts, core.WithPoller(kernel), core.WithDrain(p.Drain))...)
		if err != nil {
			panic(err)
		}
		h.fds.loop, h.fds.kernel, h.ex = loop, kernel, &loop.Executor
		return h
	}
	ex, err := core.NewExecutor(opts...)
	if err != nil {
		panic(err) // the generator makes only valid options
	}
	h.ex = ex
	return h
}

// extraIDs is the first label of tasks that are not part of the program.
const extraIDs = 1 << 20

// extraTask returns a task of the harness itself.
func (h *harness) extraTask() Step {
	return Step{Op: history.OpExecute, ID: int(extraIDs + h.extra.Add(1)), Body: &Script{}}
}

// steps makes the calls of an actor, or of a body.
func (h *harness) steps(steps []Step, wait bool) {
	for _, s := range steps {
		if wait && s.Wait > 0 {
			time.Sleep(s.Wait)
		}
		h.call(s)
		for i := 1; i < s.Times; i++ {
			again := s
			again.ID = h.extraTask().ID
			if s.FD != 0 {
				again.FD += i
			}
			h.call(again)
		}
		h.sample()
	}
}

func (h *harness) sample() {
	h.sampling.Lock() // the log has samples in the order in which they were taken
	defer h.sampling.Unlock()
	after := h.rec.log.Len()
	if len(h.samples) == 0 {
		h.samples = make([]history.Stats, 16)
	}
	stats := &h.samples[0]
	h.samples = h.samples[1:]
	*stats = statsWords(h.ex.Stats())
	h.rec.log.Add(history.Event{Kind: history.Sample, Call: after, Stats: stats})
}

// call makes one call and records it.
func (h *harness) call(s Step) {
	inv := history.Event{
		Op: s.Op, ID: max(s.ID, s.Target), Delay: s.Delay, Period: s.Period, Quiet: s.Quiet, Timeout: s.Timeout,
	}
	if s.Op == history.OpClose {
		inv.Timeout = core.DefaultShutdownTimeout
	}
	switch {
	case s.Env != "":
		h.apply(s)
		return
	case s.Ask != "":
		h.ask(s)
		return
	case s.Op == history.OpEnd:
		h.closeRegistration(s.Target)
		return
	case s.Op == history.OpListen:
		h.listenLate(s.Target)
		return
	case s.Op == history.OpModify:
		h.modify(s)
		return
	case s.Op.Registers() && h.fds.loop == nil:
		return // minimising may have removed the event loop
	case s.Op == history.OpState:
		h.observeState()
		return
	case (s.Op == history.OpCancel || s.Op == history.OpReset || s.Op == history.OpRemoveHook) && !h.known(s):
		return // not submitted yet, or refused: there is nothing to cancel
	}
	var listen func() // added after the call: a refused future calls it at once
	h.rec.call(inv, func() (out history.Outcome) {
		if s.Op == history.OpSubmit {
			out, listen = h.submit(s)
			return out
		}
		return h.do(s)
	})
	if listen != nil {
		listen()
	}
	if s.Op.Registers() {
		h.listen(s)
	}
}

func (h *harness) observeState() {
	n := h.rec.log.Add(history.Event{Kind: history.Invoke, Op: history.OpState})
	state := h.ex.State()
	h.rec.log.Add(history.Event{Kind: history.Return, Op: history.OpState, Call: n, To: state, Outcome: history.Returned})
	h.look()
}

func (h *harness) do(s Step) history.Outcome {
	switch s.Op {
	case history.OpExecute:
		if s.Try {
			return answer(h.refusal(h.ex.TryExecute(h.body(history.BodyTask, s))))
		}
		return answer(h.refusal(h.ex.Execute(h.body(history.BodyTask, s))))
	case history.OpExecuteLazy:
		return answer(h.refusal(h.ex.ExecuteLazy(h.body(history.BodyTask, s))))
	case history.OpAfterIteration:
		return answer(h.refusal(h.ex.ExecuteAfterIteration(h.body(history.BodyTail, s))))
	case history.OpSchedule, history.OpFixedRate, history.OpFixedDelay:
		return h.schedule(s)
	case history.OpAddHook:
		return h.addHook(s)
	case history.OpRegister, history.OpRegisterChannel:
		return h.register(s)
	case history.OpRemoveHook:
		return h.removeHook(s.Target)
	case history.OpCancel:
		return h.cancel(s.Target)
	case history.OpReset:
		return h.reset(s)
	case history.OpShutdownGracefully:
		_, err := h.ex.ShutdownGracefully(s.Quiet, s.Timeout)
		return answer(err)
	case history.OpShutdown:
		h.ex.Shutdown()
		return history.Returned
	case history.OpClose:
		return waited(h.ex.Close())
	case history.OpAwait:
		ctx, stop := context.WithTimeout(context.Background(), s.Delay)
		defer stop()
		return waited(h.ex.AwaitTermination(ctx))
	}
	panic("props: no such step: " + s.Op.String())
}

func (h *harness) schedule(s Step) history.Outcome {
	var t *core.Timer
	var err error
	body := h.body(history.BodyTimer, s)
	switch s.Op {
	case history.OpSchedule:
		t, err = h.ex.Schedule(s.Delay, body)
	case history.OpFixedRate:
		t, err = h.ex.ScheduleAtFixedRate(s.Delay, s.Period, body)
	case history.OpFixedDelay:
		t, err = h.ex.ScheduleWithFixedDelay(s.Delay, s.Period, body)
	}
	if err == nil {
		h.mu.Lock()
		h.timers[s.ID] = t
		h.mu.Unlock()
	}
	return answer(err)
}

func (h *harness) addHook(s Step) history.Outcome {
	remove, err := h.ex.AddShutdownHook(h.body(history.BodyHook, s))
	if err == nil {
		h.mu.Lock()
		h.removes[s.ID] = remove
		h.mu.Unlock()
	}
	return answer(err)
}

// known reports whether there is something to cancel or remove.
func (h *harness) known(s Step) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch s.Op {
	case history.OpRemoveHook:
		return h.removes[s.Target] != nil
	case history.OpReset:
		return h.timers[s.Target] != nil
	}
	return h.futures[s.Target] != nil || h.timers[s.Target] != nil
}

func (h *harness) removeHook(id int) history.Outcome {
	h.mu.Lock()
	remove := h.removes[id]
	h.mu.Unlock()
	return vocabulary.Truth(remove())
}

func (h *harness) cancel(id int) history.Outcome {
	h.mu.Lock()
	f, t := h.futures[id], h.timers[id]
	h.mu.Unlock()
	if f != nil {
		return vocabulary.Truth(f.Cancel())
	}
	return vocabulary.Truth(t.Cancel())
}

func (h *harness) reset(s Step) history.Outcome {
	h.mu.Lock()
	t := h.timers[s.Target]
	h.mu.Unlock()
	return vocabulary.Truth(t.Reset(s.Delay))
}

// end makes the executor terminate, and records what is left.
func (h *harness) end() {
	patience, last := patience, time.Second
	if h.real {
		patience, last = realPatience, 100*time.Millisecond
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if h.ex.State() < core.StateShuttingDown {
		h.call(Step{Op: history.OpShutdownGracefully, Timeout: last})
	}
	_, err := h.ex.Termination().Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		h.gaveUp.Store(true)
		return // the log has no Done, and the predicates judge that
	}
	h.fds.stopTimers()
	h.alarmsLeft = h.clock.pending()
	h.rec.log.Add(history.Event{Kind: history.Observe, Op: history.OpDone, Outcome: history.True})
	h.observeState()
	h.call(h.extraTask())
	h.sample()
	h.completions()
	h.checkAsks()
	h.sealed()
	h.said = h.final()
}

// sealed records the counts of channels in the report.
func (h *harness) sealed() {
	if h.fds.loop == nil {
		return
	}
	report := h.ex.Termination().Report()
	h.rec.log.Add(history.Event{Kind: history.Sealed, Stats: &history.Stats{
		Registrations: int(h.ex.Stats().Registrations),
		Drained:       int(report.ChannelsDrained), Aborted: int(report.ChannelsAborted), Discarded: int(report.BytesDiscarded),
	}})
}

// completions records which futures and timers are complete after Done, and with which
// result (G9).
func (h *harness) completions() {
	for id, f := range h.futures {
		if isClosed(f.Done()) {
			_, err := f.Wait(context.Background())
			h.rec.log.Add(history.Event{Kind: history.Complete, ID: id, Outcome: result(err)})
		}
	}
	for id, t := range h.timers {
		if isClosed(t.Done()) {
			h.rec.log.Add(history.Event{Kind: history.Complete, ID: id, Outcome: result(t.Err())})
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
