package exectest

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// hammer is a run without the log: producers submit as fast as they can while a
// shutdown comes in between, and afterwards it is counted what became of each
// call. The log of the programs takes a lock around every call, which keeps
// producers apart; a gap of a few instructions in Execute is then never met. The
// price is that a failure has no trace, so it is told as a test to paste.
type hammer struct {
	call      call
	producers int
	calls     int // of each producer
	yields    int // runtime.Gosched before the shutdown
	dwell     int // runtime.Gosched in each body
	busy      bool
	inside    bool
	timeout   bool
}

// call is what the producers call.
type call int

const (
	callExecute call = iota
	callSubmit
	callAddHook
)

// Times of a hammer's shutdown. It asks for no quiet period, unless its timeout
// is to close admission: then producers begin exactly at its end.
const (
	hammerTimeout = 100 * unit
	hammerClosing = unit / 10
)

// fewInside is how many calls there are at most beside a task that calls Shutdown, so
// that queues of the usual sizes have room: see patienceInside.
const fewInside = 1000

// hammered draws a hammer. The weights were measured, on executors that lose in
// gaps of different kinds: many calls matter most, as each is one chance; more
// producers than processors queue up at the executor's locks, and are held up there;
// a shutdown called by a task leaves the loop the shortest way to its end, and finds
// several times as often the gap between a flag and a lock.
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

// slot is what became of one call. All of it is atomic, as calls that never return
// and bodies that run too late may write while it is read.
type slot struct {
	stage  atomic.Int32
	future atomic.Pointer[Future]
	ran    atomic.Int32
	late   atomic.Bool // began when Done was closed
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

// strike carries out a hammer on one subject.
type strike struct {
	hammer
	subject Subject
	done    <-chan struct{}
	slots   []slot // producer by producer, and then the held task and the one that shuts down
	held    chan struct{}

	running    atomic.Int32   // bodies now
	overlapped atomic.Bool    // two at once
	last       []atomic.Int64 // per producer, the call whose body began last
	disordered atomic.Bool
}

func newStrike(h hammer, s Subject) *strike {
	return &strike{
		hammer: h, subject: s, done: s.Done(),
		slots: make([]slot, h.producers*h.calls+2),
		held:  make(chan struct{}),
		last:  make([]atomic.Int64, h.producers),
	}
}

// run strikes and reports whether there is something to judge. There is not if the
// executor does not end, which is for other guarantees to tell.
func (k *strike) run(settle func(), realTime bool) bool {
	deadline := time.NewTimer(4 * hammerTimeout)
	defer deadline.Stop()
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
	if !realTime || k.suspicious() { // in real time settling is slow
		settle()
	}
	return true
}

// play makes all calls and returns when they have returned. As everywhere in the
// kit the subject is called from many goroutines at once.
func (k *strike) play() {
	held, stop := &k.slots[len(k.slots)-2], &k.slots[len(k.slots)-1]
	shut := make(chan struct{})
	shutInside := func() { k.shutdown(0, hammerTimeout); close(shut) }
	if k.busy {
		k.execute(held, func() { <-k.held })
	}
	if k.busy && k.inside { // now, as a full queue may let nobody in while the loop is held
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

// insist calls Shutdown if the task that was to do so does not run.
func (k *strike) insist(stop *slot, shut <-chan struct{}) {
	timer := time.NewTimer(hammerTimeout)
	defer timer.Stop()
	if stop.stage.Load() == refused || !within(shut, timer) {
		k.shutdown(0, hammerTimeout)
	}
}

func (k *strike) shutdown(quiet, timeout time.Duration) {
	_ = k.subject.Shutdown(quiet, timeout) // without one it does not end, and is not judged
}

// produce makes the calls of one producer, until the executor is done: what is
// said yes to after that is for G5 to tell.
func (k *strike) produce(p int) {
	if k.timeout {
		time.Sleep(hammerClosing)
	}
	for i := range k.calls {
		if closed(k.done) {
			return
		}
		s := &k.slots[p*k.calls+i]
		body := func() { k.ordered(p, i+1) }
		switch k.call {
		case callSubmit:
			k.submit(s, body)
		case callAddHook:
			k.addHook(s, body)
		default:
			k.execute(s, body)
		}
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

// ordered notes that the body of a producer's n-th call begins.
func (k *strike) ordered(producer, n int) {
	if k.last[producer].Swap(int64(n)) > int64(n) {
		k.disordered.Store(true)
	}
}
