package exectest

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// hammer describes a run without the log: producers submit as fast as they can while a
// shutdown begins, and afterwards the results of all calls are counted. The log of the
// programs takes a lock around every call, which separates the producers, so that they
// never hit a gap of a few instructions in Execute. In exchange a failure has no trace;
// the report has the source of an equivalent test instead.
type hammer struct {
	call      call
	producers int
	calls     int // of each producer
	yields    int // calls of runtime.Gosched before the shutdown
	dwell     int // calls of runtime.Gosched in each body
	busy      bool
	inside    bool
	timeout   bool
	ahead     int // tasks of a producer that have not ended, at most; then the shutdown waits for the producers; 0: no bound
}

// call is the method that the producers call.
type call int

const (
	callExecute call = iota
	callSubmit
	callAddHook
)

// Times of a hammer's shutdown. The quiet period is 0, unless the timeout has to close
// admission: then producers begin exactly when the timeout passes.
const (
	hammerTimeout = 100 * unit
	hammerClosing = unit / 10
)

// fewInside is the most calls beside a task that calls Shutdown, so that queues of the
// usual sizes have room: see patienceInside.
const fewInside = 1000

// hammered draws a hammer. The weights were measured on executors that lose tasks in
// different kinds of gaps. Many calls matter most, because each is one chance. More
// producers than processors queue up at the executor's locks, and are delayed there. If a
// task calls the shutdown, the loop ends by the shortest way, which finds the gap between
// a flag and a lock several times as often.
func hammered(rng *rand.Rand, c call) hammer {
	h := hammer{
		call:      c,
		producers: pick(rng, 1, 2, 4, 8, 8, 16, 16),
		calls:     pick(rng, 20, 100, 200, 200),
		yields:    pick(rng, rng.IntN(3), rng.IntN(33)),
		busy:      rng.IntN(3) == 0,
		inside:    rng.IntN(2) == 0,
		timeout:   rng.IntN(16) == 0,
	}
	if h.timeout {
		h.busy, h.inside, h.yields = false, false, 0
	}
	if h.inside {
		h.calls = min(h.calls, fewInside/h.producers)
	}
	return h
}

// Of a hammer with more tasks than a counter of 16 bits can count: the bound of tasks that
// have not ended, and the retries of a refused one, after which its producer gives up.
const (
	unfinishedTasks = 4
	retries         = 50
)

// enduring divides the tasks among producers.
func enduring(rng *rand.Rand, tasks int) hammer {
	n := pick(rng, 1, 2, 4)
	return hammer{producers: n, calls: (tasks + n - 1) / n, ahead: unfinishedTasks}
}

// slot is the result of one call. All fields are atomic, because a call that never
// returns, or a body that runs too late, may write while the slot is read.
type slot struct {
	stage  atomic.Int32
	future atomic.Pointer[Future]
	ran    atomic.Int32
	late   atomic.Bool // a body began after Done was closed
}

// Stages of a call.
const (
	notMade int32 = iota
	calling
	refused
	accepted
)

func (s *slot) answer(yes bool) {
	if yes {
		s.stage.Store(accepted)
	} else {
		s.stage.Store(refused)
	}
}

// strike runs a hammer on one subject.
type strike struct {
	hammer
	subject Subject
	done    <-chan struct{}
	slots   []slot // the calls of each producer, then the held task and the task that shuts down
	held    chan struct{}
	limit   time.Duration // how long producers wait for their tasks
	quit    chan struct{} // closed then

	running    atomic.Int32   // bodies that run now
	overlapped atomic.Bool    // two bodies ran at the same time
	last       []atomic.Int64 // per producer, the number of the call whose body began last
	disordered atomic.Bool
}

func newStrike(h hammer, s Subject) *strike {
	return &strike{
		hammer: h, subject: s, done: s.Done(),
		slots: make([]slot, h.producers*h.calls+2),
		held:  make(chan struct{}), quit: make(chan struct{}),
		last: make([]atomic.Int64, h.producers),
	}
}

// run makes the calls, and reports whether there is something to judge. If the executor
// does not terminate, other guarantees judge that.
func (k *strike) run(settle func(), realTime bool) bool {
	deadline := time.NewTimer(k.limit + 4*hammerTimeout)
	defer deadline.Stop()
	if k.ahead > 0 {
		defer time.AfterFunc(k.limit, func() { close(k.quit) }).Stop()
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		k.play()
	}()
	if !within(k.done, deadline) {
		return false
	}
	within(over, deadline)
	for i := range k.slots {
		if f := k.slots[i].future.Load(); f != nil {
			within((*f).Done(), deadline)
		}
	}
	if !realTime || k.suspicious() { // settling is slow in real time
		settle()
	}
	return true
}

// play makes all calls and returns when they have returned. The subject is called
// concurrently.
func (k *strike) play() {
	held, stop := &k.slots[len(k.slots)-2], &k.slots[len(k.slots)-1]
	shut := make(chan struct{})
	shutInside := func() { k.shutdown(0, hammerTimeout); close(shut) }
	if k.busy {
		k.execute(held, func() { <-k.held })
	}
	if k.busy && k.inside { // before the producers: a full queue may admit no task while the loop is held
		k.execute(stop, shutInside)
	}
	if k.timeout {
		k.shutdown(hammerClosing, hammerClosing)
	}
	var producers sync.WaitGroup
	for p := range k.producers {
		producers.Go(func() { k.produce(p) })
	}
	for range k.yields {
		runtime.Gosched()
	}
	close(k.held)
	if k.ahead > 0 {
		producers.Wait()
	}
	switch {
	case k.timeout:
	case !k.inside:
		k.shutdown(0, hammerTimeout)
	default:
		if !k.busy {
			k.execute(stop, shutInside)
		}
		k.insist(stop, shut)
	}
	producers.Wait()
}

// insist calls Shutdown if the task that was to call it has not run.
func (k *strike) insist(stop *slot, shut <-chan struct{}) {
	timer := time.NewTimer(hammerTimeout)
	defer timer.Stop()
	if stop.stage.Load() == refused || !within(shut, timer) {
		k.shutdown(0, hammerTimeout)
	}
}

func (k *strike) shutdown(quiet, timeout time.Duration) {
	_ = k.subject.Shutdown(quiet, timeout) // after an error the executor does not terminate, and the run is not judged
}

// produce makes the calls of one producer, until Done is closed. G5 judges calls after
// that.
func (k *strike) produce(p int) {
	if k.timeout {
		time.Sleep(hammerClosing)
	}
	room := make(chan struct{}, k.ahead)
	for i := range k.calls {
		if closed(k.done) || k.ahead > 0 && !k.reserve(room) {
			return
		}
		s := &k.slots[p*k.calls+i]
		body := func() {
			k.ordered(p, i+1)
			if k.ahead > 0 {
				<-room
			}
		}
		switch k.call {
		case callSubmit:
			k.submit(s, body)
		case callAddHook:
			k.addHook(s, body)
		default:
			k.execute(s, body)
		}
		for try := 0; k.ahead > 0 && s.stage.Load() == refused; try++ {
			if try == retries {
				return
			}
			time.Sleep(unit / 10)
			k.execute(s, body)
		}
	}
}

// reserve waits until a task of the producer ends. It returns false if none does.
func (k *strike) reserve(room chan<- struct{}) bool {
	select {
	case room <- struct{}{}:
		return true
	case <-k.quit:
		return false
	}
}

func (k *strike) execute(s *slot, then func()) {
	s.stage.Store(calling)
	s.answer(k.subject.Execute(k.body(s, then)) == nil)
}

func (k *strike) submit(s *slot, then func()) {
	body := k.body(s, then)
	s.stage.Store(calling)
	f := k.subject.(Submitter).Submit(func() error { body(); return nil })
	if !f.Refused() {
		s.future.Store(&f)
	}
	s.answer(!f.Refused())
}

func (k *strike) addHook(s *slot, then func()) {
	s.stage.Store(calling)
	_, err := k.subject.(Hooker).AddShutdownHook(k.body(s, then))
	s.answer(err == nil)
}

func (k *strike) body(s *slot, then func()) func() {
	return func() {
		if closed(k.done) {
			s.late.Store(true)
		}
		first := s.ran.Add(1) == 1
		if k.running.Add(1) > 1 {
			k.overlapped.Store(true)
		}
		if first {
			then()
		}
		for range k.dwell {
			runtime.Gosched()
		}
		k.running.Add(-1)
	}
}

// ordered records that the body of a producer's n-th call begins.
func (k *strike) ordered(producer, n int) {
	if k.last[producer].Swap(int64(n)) > int64(n) {
		k.disordered.Store(true)
	}
}
