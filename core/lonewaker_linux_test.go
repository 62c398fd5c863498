package core_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
)

// The tests in this file keep away everything that could make up for a lost
// wake-up: there is one waker, no other traffic, no timer that is due. With several
// producers the next one's wake-up hides the loss; such a test passes without the
// look that comes after the announcement of sleep.
//
// The waker spins, as a parked goroutine would be too late to meet the loop on its
// way to sleep, and delays itself by a random time, so that it meets it everywhere.

// loneTime is how long each of them runs; EVENTIDE_SOAK makes it that long.
const loneTime = 100 * time.Millisecond

// lonePatience is when a wake-up counts as lost.
const lonePatience = 5 * time.Second

// loneWakers runs f with more processors than the loop and the waker need, and
// with as many.
func loneWakers(t *testing.T, f func(t *testing.T, w *loneWaker)) {
	length := loneTime
	if soak := os.Getenv("EVENTIDE_SOAK"); soak != "" {
		d, err := time.ParseDuration(soak)
		coretest.Must(t, err)
		if d <= 0 {
			t.Fatalf("EVENTIDE_SOAK is %q, want a duration such as 10m", soak)
		}
		length = d
	}
	if testing.Short() {
		length /= 4
	}
	for _, procs := range []int{2, 4} {
		t.Run(fmt.Sprintf("procs=%d", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			seed := rand.Uint64()
			w := &loneWaker{rng: rand.New(rand.NewPCG(seed, 0)), end: time.Now().Add(length)}
			f(t, w)
			t.Logf("seed %d: %d wake-ups, none lost", seed, w.n)
		})
	}
}

// loneWaker is the waker of one test.
type loneWaker struct {
	rng  *rand.Rand
	end  time.Time
	n    int64
	seen atomic.Int64 // what the loop has seen of n
}

// goesOn counts the next wake-up, until the time is over.
func (w *loneWaker) goesOn() bool {
	if w.n&15 == 0 && time.Now().After(w.end) {
		return false
	}
	w.n++
	return true
}

// await spins until the wake-up was seen, and delays a little. It fails the test if
// the wake-up was lost.
func (w *loneWaker) await(t *testing.T, delay int) {
	t.Helper()
	for spins := 1; w.seen.Load() < w.n; spins++ {
		if spins&0xfff != 0 {
			continue
		}
		runtime.Gosched()
		if spins&0xfffff == 0 {
			w.lastCall(t)
		}
	}
	for range w.rng.IntN(delay) {
		w.seen.Load()
	}
}

// lastCall is patient: others need the processor too.
func (w *loneWaker) lastCall(t *testing.T) {
	t.Helper()
	for since := time.Now(); w.seen.Load() < w.n; runtime.Gosched() {
		if time.Since(since) > lonePatience {
			t.Fatalf("G12: wake-up %d was lost", w.n)
		}
	}
}

// pollers are all that a loop may sleep on.
var pollers = []struct {
	name string
	make func() (core.Poller, error)
}{
	{"park", func() (core.Poller, error) { return core.NewParkPoller(nil), nil }},
	{"parked", func() (core.Poller, error) { return core.NetpollPoller(nil, 0, core.RealCalls()) }},
	{"spinning", func() (core.Poller, error) { return core.NetpollPoller(nil, core.DefaultSpin, core.RealCalls()) }},
	{"blocking", func() (core.Poller, error) { return core.BlockingPoller(nil, core.RealCalls()) }},
}

// A Wake without a queue. It is lost unless the deadline is reset before the sleep is
// announced.
func TestLoneWake(t *testing.T) {
	for _, p := range pollers {
		for _, sources := range []int{0, 1} {
			if sources > 0 && p.name == "park" {
				continue
			}
			t.Run(fmt.Sprintf("%s/fds=%d", p.name, sources), func(t *testing.T) {
				loneWakers(t, func(t *testing.T, w *loneWaker) {
					poller, err := p.make()
					coretest.Must(t, err)
					if sources > 0 {
						coretest.Must(t, poller.(core.IOPoller).Add(mustSource(t).fd, core.Readable, 1<<32))
					}
					var sent atomic.Int64
					var stop atomic.Bool
					over := make(chan error, 1)
					go func() {
						for !stop.Load() {
							if err := poller.Wait(core.Deadline{}); err != nil {
								over <- err
								return
							}
							w.seen.Store(sent.Load())
						}
						over <- poller.Close()
					}()
					for w.goesOn() {
						sent.Store(w.n)
						poller.Wake()
						w.await(t, 1500)
					}
					stop.Store(true)
					poller.Wake()
					coretest.Must(t, <-over)
				})
			})
		}
	}
}

// loneLoops runs f on executors over each poller.
func loneLoops(t *testing.T, f func(t *testing.T, ex *core.Executor, w *loneWaker)) {
	for _, kind := range []struct {
		name string
		fds  int
		opts []core.Option
	}{
		{"park", 0, nil},
		{"parked", 0, []core.Option{core.WithSpin(0)}},
		{"parked", 1, []core.Option{core.WithSpin(0)}},
		{"spinning", 1, nil},
		{"blocking", 1, []core.Option{core.WithBlockingEpoll()}},
	} {
		t.Run(fmt.Sprintf("%s/fds=%d", kind.name, kind.fds), func(t *testing.T) {
			loneWakers(t, func(t *testing.T, w *loneWaker) {
				if kind.name == "park" {
					f(t, coretest.NewExecutor(t), w)
					return
				}
				l, err := core.NewEventLoop(kind.opts...)
				coretest.Must(t, err)
				t.Cleanup(func() { l.Shutdown(); coretest.AwaitDone(t, l) })
				if kind.fds > 0 {
					mustRegister(t, l, mustSource(t).fd, core.Readable, ignore)
				}
				f(t, &l.Executor, w)
				if s := l.Stats(); s.Wakes > s.Parks+s.Spins {
					t.Errorf("G12: %d wakes for %d sleeps, want at most one each", s.Wakes, s.Parks+s.Spins)
				}
			})
		})
	}
}

// One producer, one task at a time.
func TestLoneProducer(t *testing.T) {
	loneLoops(t, func(t *testing.T, ex *core.Executor, w *loneWaker) {
		task := func() { w.seen.Add(1) }
		for w.goesOn() {
			coretest.MustExecute(t, ex, task)
			w.await(t, 1500)
		}
	})
}

// A timer that is set from outside and ends soon: it may go off anywhere on the
// loop's way to sleep. A wake-up that is lost here is the timer's own.
func TestLoneTimer(t *testing.T) {
	loneLoops(t, func(t *testing.T, ex *core.Executor, w *loneWaker) {
		body := func() { w.seen.Add(1) }
		for w.goesOn() {
			mustSchedule(t, ex, time.Duration(w.rng.IntN(4000)), body)
			w.await(t, 500)
		}
	})
}

// The same for a timer that a task sets: only the timer can wake the loop.
func TestLoneTimerOfATask(t *testing.T) {
	loneLoops(t, func(t *testing.T, ex *core.Executor, w *loneWaker) {
		body := func() { w.seen.Add(1) }
		for w.goesOn() {
			d := time.Duration(w.rng.IntN(4000))
			coretest.MustExecute(t, ex, func() { mustSchedule(t, ex, d, body) })
			w.await(t, 500)
		}
	})
}

// Timers far away that are moved from outside, beside one task: the deadline of the
// loop's sleep changes all the time, and must not swallow a wake-up.
func TestLoneProducerBesideATimer(t *testing.T) {
	loneLoops(t, func(t *testing.T, ex *core.Executor, w *loneWaker) {
		task := func() { w.seen.Add(1) }
		var last *core.Timer
		for w.goesOn() {
			if last != nil {
				last.Cancel()
			}
			last = mustSchedule(t, ex, time.Hour-time.Duration(w.n), func() {})
			for range w.rng.IntN(800) {
				w.seen.Load()
			}
			coretest.MustExecute(t, ex, task)
			w.await(t, 500)
		}
	})
}

// One writer, one descriptor: level-triggered, edge-triggered, and with room for
// one event.
func TestLoneEdge(t *testing.T) {
	for _, e := range epolls {
		for _, interest := range []core.Interest{core.Readable, core.Readable | core.EdgeTriggered} {
			t.Run(fmt.Sprintf("%s/%v", e.name, interest), func(t *testing.T) {
				loneWakers(t, func(t *testing.T, w *loneWaker) {
					p, err := e.make(nil, core.RealCalls())
					coretest.Must(t, err)
					core.SetFirstEvents(p, 1)
					l := loopOn(t, p)
					fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
					coretest.Must(t, err)
					defer unix.Close(fd)
					r := mustRegister(t, l, fd, interest, func(core.Readiness) {
						var b [8]byte
						if n, _ := unix.Read(fd, b[:]); n == 8 {
							w.seen.Add(1)
						}
					})
					defer r.Close()
					one := []byte{0: 1, 7: 0}
					for w.goesOn() {
						_, err := unix.Write(fd, one)
						coretest.Must(t, err)
						w.await(t, 3000)
					}
				})
			})
		}
	}
}

// A descriptor that is added while the poller is on its way to sleep with an empty
// set: the park that needs no look must not come to pass. It is readable before, so
// that there is one edge, and nothing else.
func TestLoneAdd(t *testing.T) {
	for _, e := range epolls {
		t.Run(e.name, func(t *testing.T) {
			loneWakers(t, func(t *testing.T, w *loneWaker) {
				p, err := e.make(nil, core.RealCalls())
				coretest.Must(t, err)
				s := mustSource(t)
				coretest.Must(t, s.Input())
				var returns atomic.Int64
				over := make(chan error, 1)
				go func() {
					for {
						err := p.Wait(core.Deadline{})
						ready := len(p.Ready()) > 0
						returns.Add(1)
						if ready {
							w.seen.Add(1)
						}
						if err != nil || w.seen.Load() < 0 {
							over <- err
							return
						}
					}
				}()
				for w.goesOn() {
					before := returns.Load()
					p.Wake() // so that it falls asleep anew
					for spins := 1; returns.Load() == before; spins++ {
						if spins&0xfff == 0 {
							runtime.Gosched()
						}
					}
					for range w.rng.IntN(400) {
						w.seen.Load()
					}
					coretest.Must(t, p.Add(s.fd, core.Readable|core.EdgeTriggered, 1<<32))
					w.await(t, 10)
					coretest.Must(t, p.Remove(s.fd))
				}
				w.seen.Store(-1)
				p.Wake()
				coretest.Must(t, <-over)
				coretest.Must(t, p.Close())
			})
		})
	}
}
