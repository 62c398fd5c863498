package exectest

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventide/internal/vocabulary"
	"eventide/props/history"
)

// driver runs one program on one subject and writes the log.
type driver struct {
	subject Subject
	config  *config
	log     recorder
	quit    chan struct{}  // closed when the watchers have to end
	watch   sync.WaitGroup // the watchers of Done and of futures

	mu    sync.Mutex
	undos map[int]func() bool              // cancel and remove functions by label
	moves map[int]func(time.Duration) bool // reset functions by label

	refusal atomic.Pointer[error] // the first error of Shutdown

	plain int // see PlainVariable; only bodies write it
}

func newDriver(s Subject, c *config) *driver {
	return &driver{
		subject: s,
		config:  c,
		log:     history.New(nil),
		quit:    make(chan struct{}),
		undos:   map[int]func() bool{},
		moves:   map[int]func(time.Duration) bool{},
	}
}

// drive runs the actors, waits for Done for as long as the program can need, and lets
// late effects happen. settle returns when no goroutine can run.
func (d *driver) drive(p program, settle func()) {
	deadline := time.NewTimer(d.config.rest(p))
	defer deadline.Stop()
	d.watch.Go(d.watchDone)
	actors := make(chan struct{})
	go d.act(p, actors)
	if within(actors, deadline) {
		within(d.subject.Done(), deadline)
		time.Sleep(d.config.linger(p)) // a body that wrongly runs after Done has time to be seen
	}
	settle()
	close(d.quit)
	d.watch.Wait()
}

// endIfUnasked ends a subject on which the program has made no shutdown call, and leaves it out of
// the log. A program has one, but if shrink has left only one in a body, the subject may not run
// that body.
func (d *driver) endIfUnasked() {
	shuts := func(e history.Event) bool { return e.Kind == history.Invoke && e.Op.Shuts() }
	if slices.ContainsFunc(d.log.Events(), shuts) {
		return
	}
	deadline := time.NewTimer(4 * hammerTimeout)
	defer deadline.Stop()
	go func() { _ = d.subject.Shutdown(0, hammerTimeout) }() // it may block, and the run must end
	within(d.subject.Done(), deadline)
}

// within waits for the channel, and reports whether it was closed in time.
func within(c <-chan struct{}, deadline *time.Timer) bool {
	select {
	case <-c:
		return true
	case <-deadline.C:
		deadline.Reset(0) // so that a later wait does not wait
		return false
	}
}

// act starts the actors in the order of the program.
func (d *driver) act(p program, finished chan<- struct{}) {
	defer close(finished)
	var actors sync.WaitGroup
	for _, steps := range p.actors {
		actors.Go(func() { d.steps(steps) })
	}
	actors.Wait()
}

// watchDone records without delay when it sees Done closed.
func (d *driver) watchDone() {
	select {
	case <-d.subject.Done():
		d.log.Add(history.Event{Kind: history.Observe, Op: history.OpDone, Outcome: history.True})
		d.step(step{op: history.OpState})
		d.step(step{op: history.OpStats})
	case <-d.quit:
	}
}

func (d *driver) steps(steps []step) {
	for _, s := range steps {
		if s.pause > 0 {
			time.Sleep(s.pause)
		}
		for range s.yields {
			runtime.Gosched()
		}
		d.step(s)
	}
}

// step makes one call, if the subject has the method.
func (d *driver) step(s step) {
	switch s.op {
	case history.OpExecute:
		d.call(s, func() history.Outcome { return d.answer(d.subject.Execute(d.body(s, history.BodyTask))) })
	case history.OpSubmit:
		d.submit(s)
	case history.OpSchedule:
		d.schedule(s)
	case history.OpAddHook:
		d.addHook(s)
	case history.OpCancel, history.OpRemoveHook:
		d.undo(s)
	case history.OpReset:
		d.reset(s)
	case history.OpShutdownGracefully:
		d.call(s, func() history.Outcome { return d.answer(d.shutdown(s)) })
	case history.OpShutdown:
		if c, ok := d.subject.(Closer); ok {
			d.call(s, func() history.Outcome { c.ShutdownNow(); return history.Returned })
		}
	default:
		d.query(s)
	}
}

func (d *driver) shutdown(s step) error {
	err := d.subject.Shutdown(s.quiet, s.timeout)
	if err != nil {
		d.refusal.CompareAndSwap(nil, &err)
	}
	return err
}

// query calls a method that returns something about the subject, and records the answer.
func (d *driver) query(s step) {
	switch s.op {
	case history.OpState:
		if st, ok := d.subject.(Stater); ok {
			call := d.log.Add(history.Event{Kind: history.Invoke, Op: s.op})
			state := st.State()
			d.log.Add(history.Event{Kind: history.Return, Op: s.op, Call: call, To: state})
			if state == history.Terminated {
				d.log.Add(history.Event{Kind: history.Observe, Op: history.OpDone, Outcome: vocabulary.Truth(closed(d.subject.Done()))})
			}
		}
	case history.OpInLoop:
		if l, ok := d.subject.(LoopTeller); ok {
			d.log.Add(history.Event{Kind: history.Observe, Op: s.op, Outcome: vocabulary.Truth(l.InEventLoop())})
		}
	case history.OpStats:
		if c, ok := d.subject.(Counter); ok {
			call := d.log.Add(history.Event{Kind: history.Invoke, Op: s.op})
			stats := c.Stats()
			d.log.Add(history.Event{Kind: history.Return, Op: s.op, Call: call, Stats: &stats})
		}
	}
}

// call records Invoke, calls f, and records Return.
func (d *driver) call(s step, f func() history.Outcome) {
	n := d.log.Add(history.Event{
		Kind: history.Invoke, Op: s.op, ID: s.id,
		Delay: s.delay, Quiet: s.quiet, Timeout: s.timeout,
	})
	answer := f()
	d.log.Add(history.Event{Kind: history.Return, Op: s.op, ID: s.id, Call: n, Outcome: answer})
}

// answer returns the outcome for an error of a call.
func (d *driver) answer(err error) history.Outcome {
	if err == nil {
		return history.Accepted
	}
	return d.config.classify(err)
}

func (d *driver) schedule(s step) {
	sched, ok := d.subject.(Scheduler)
	if !ok {
		return
	}
	d.call(s, func() history.Outcome {
		if r, ok := sched.(Resetter); ok && s.movable {
			timer, err := r.ScheduleTimer(s.delay, d.body(s, history.BodyTimer))
			if err == nil {
				d.keep(s.id, timer.Cancel, nil)
				d.keepReset(s.id, timer.Reset)
			}
			return d.answer(err)
		}
		cancel, err := sched.Schedule(s.delay, d.body(s, history.BodyTimer))
		d.keep(s.id, cancel, err)
		return d.answer(err)
	})
}

func (d *driver) addHook(s step) {
	h, ok := d.subject.(Hooker)
	if !ok {
		return
	}
	d.call(s, func() history.Outcome {
		remove, err := h.AddShutdownHook(d.body(s, history.BodyHook))
		d.keep(s.id, remove, err)
		return d.answer(err)
	})
}

// submit submits a task with a future, and watches the future.
func (d *driver) submit(s step) {
	sub, ok := d.subject.(Submitter)
	if !ok {
		return
	}
	var f Future
	d.call(s, func() history.Outcome {
		run := d.body(s, history.BodyTask)
		f = sub.Submit(func() error { run(); return nil })
		if f.Refused() {
			return d.config.classify(f.Err())
		}
		return history.Accepted
	})
	d.watcher(func() { d.watchFuture(s.id, f) })
}

// watcher starts a goroutine that ends when it has seen what it watches, or when quit is
// closed. Under a chosen schedule it counts as an actor: a WaitGroup would be a data race
// to the detector, because nothing orders Add with Wait.
func (d *driver) watcher(watch func()) {
	t, ok := d.log.(*trace)
	if !ok {
		d.watch.Go(watch)
		return
	}
	t.act(1)
	go func() {
		defer t.act(-1)
		watch()
	}()
}

func (d *driver) watchFuture(id int, f Future) {
	select {
	case <-f.Done():
		outcome := history.Normal
		if f.Err() != nil {
			outcome = history.Errored
		}
		d.log.Add(history.Event{Kind: history.Complete, ID: id, Outcome: outcome})
	case <-d.quit:
	}
}

// keep stores the function that undoes a submission. After a refusal there is nothing to
// undo, whatever function the subject returned.
func (d *driver) keep(id int, undo func() bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if undo != nil && err == nil {
		d.undos[id] = undo
	}
}

func (d *driver) keepReset(id int, reset func(time.Duration) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.moves[id] = reset
}

// reset moves a timer, if it was accepted and the subject can move timers.
func (d *driver) reset(s step) {
	d.mu.Lock()
	reset := d.moves[s.id]
	d.mu.Unlock()
	if reset != nil {
		d.call(s, func() history.Outcome { return vocabulary.Truth(reset(s.delay)) })
	}
}

// undo cancels a timer or removes a hook, if it was accepted.
func (d *driver) undo(s step) {
	d.mu.Lock()
	undo := d.undos[s.id]
	d.mu.Unlock()
	if undo != nil {
		d.call(s, func() history.Outcome { return vocabulary.Truth(undo()) })
	}
}

// plantedPanic is the value of a planted panic. If it kills the process, its text is the
// last output.
type plantedPanic struct {
	id     int
	found  []string // earlier failures
	replay string   // the command that repeats it
}

// Error is the text with which the process dies if the executor does not recover.
func (p plantedPanic) Error() string {
	text := "exectest: G14: a panic planted in a task has escaped the executor and kills the process.\n" +
		"Recover in your loop, or declare that you do not: exectest.Without(\"G14\", \"why\").\n" +
		"replay  " + p.replay + "\n"
	if len(p.found) == 0 {
		return text + "Nothing had failed before."
	}
	return text + "What had failed before:\n" + strings.Join(p.found, "\n")
}

// body returns the function that the driver gives to the executor. If a wrong executor runs
// the body again, the log shows the second run, but the body does not repeat its calls: a
// log has each label once.
func (d *driver) body(s step, kind history.Body) func() {
	var ran atomic.Bool
	return func() {
		outcome := s.body.ends
		if !outcome.Abrupt() {
			outcome = history.Normal
		}
		if d.config.chosen && closed(d.subject.Done()) { // no watcher is as fast
			d.log.Add(history.Event{Kind: history.Observe, Op: history.OpDone, Outcome: history.True})
		}
		d.log.Add(history.Event{Kind: history.Begin, Body: kind, ID: s.id, InLoop: d.inLoop()})
		defer func() {
			d.log.Add(history.Event{Kind: history.End, Body: kind, ID: s.id, Outcome: outcome, InLoop: d.inLoop()})
		}()
		if d.config.plain {
			d.plain++
		}
		if s.body.takes > 0 {
			time.Sleep(s.body.takes)
		}
		if !ran.Swap(true) {
			d.steps(s.body.then)
		}
		switch outcome {
		case history.Panicked:
			panic(plantedPanic{s.id, d.config.failures, d.config.line})
		case history.Exited:
			runtime.Goexit()
		}
	}
}

func (d *driver) inLoop() bool {
	l, ok := d.subject.(LoopTeller)
	return !ok || l.InEventLoop()
}
