package core_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// lateSleeper is a poller that counts its sleeps, and does so only when it is let: the
// loop has announced that it sleeps, and can be woken, before.
type lateSleeper struct {
	*pollertest.Model
	armed   atomic.Bool
	arrived chan struct{}
	gate    chan struct{}
	parks   atomic.Int64
}

func (p *lateSleeper) Parks() int64 { return p.parks.Load() }
func (p *lateSleeper) Spins() int64 { return 0 }

func (p *lateSleeper) Wait(until core.Deadline) error {
	if p.armed.CompareAndSwap(true, false) {
		p.arrived <- struct{}{}
		<-p.gate
	}
	p.parks.Add(1)
	return p.Model.Wait(until)
}

// A wake-up between the announcement of a sleep and the sleep is one for a sleep.
func TestG12AWakeBeforeTheParkIsCounted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := &lateSleeper{Model: pollertest.NewModel(nil), arrived: make(chan struct{}), gate: make(chan struct{})}
		l := loopOn(t, p)
		p.armed.Store(true)
		coretest.MustExecute(t, l, func() {})
		<-p.arrived
		coretest.MustExecute(t, l, func() {})
		if s := l.Stats(); s.Wakes != 1 || s.Wakes > s.Parks+s.Spins {
			t.Errorf("G12: %d wakes, %d parks, %d spins before the park, want 1 and a sum of at least 1", s.Wakes, s.Parks, s.Spins)
		}
		close(p.gate)
	})
}

// Snapshots taken at any time have at most one wake-up for each sleep, and neither
// Parks nor the sum of Parks and Spins goes back. (Spins may: until a sleep is a park
// it counts as a spin.) What is woken before it parks: see the test above.
func TestG12EverySnapshotOfSleeps(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 5_000
	}
	epollLoops(t, func(t *testing.T, l *core.EventLoop) {
		stop := make(chan struct{})
		var load, sampler sync.WaitGroup
		for range 2 {
			load.Go(func() {
				for i := range rounds {
					_ = l.Execute(func() {})
					if i%100 == 0 {
						time.Sleep(time.Microsecond) // lets the loop fall asleep, or not: no synchronisation
					}
				}
			})
		}
		sampler.Go(func() {
			var last core.Stats
			for {
				s := l.Stats()
				if s.Wakes > s.Parks+s.Spins || s.Parks < last.Parks || s.Parks+s.Spins < last.Parks+last.Spins || s.Wakes < last.Wakes {
					t.Errorf("G12: sleeps went from %d parks, %d spins, %d wakes to %d, %d, %d",
						last.Parks, last.Spins, last.Wakes, s.Parks, s.Spins, s.Wakes)
				}
				last = s
				select {
				case <-stop:
					return
				default:
				}
			}
		})
		load.Wait()
		close(stop)
		sampler.Wait()
	})
}

// halfSleeper is a poller whose every second Wait is a spin.
type halfSleeper struct {
	*pollertest.Model
	waits, parks atomic.Int64
}

func (p *halfSleeper) Parks() int64 { return p.parks.Load() }
func (p *halfSleeper) Spins() int64 { return p.waits.Load() - p.parks.Load() }

func (p *halfSleeper) Wait(until core.Deadline) error {
	if p.waits.Add(1)%2 == 0 {
		p.parks.Add(1)
	}
	return p.Model.Wait(until)
}

// Parks are those that the poller counts, and Spins the other announced sleeps.
func TestParksAreThoseOfThePoller(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := &halfSleeper{Model: pollertest.NewModel(nil)}
		l := loopOn(t, p)
		for range 11 {
			coretest.MustExecute(t, l, func() {})
			synctest.Wait()
		}
		s := l.Stats()
		if s.Parks != p.Parks() || s.Spins != p.Spins() || s.Parks == 0 || s.Spins == 0 {
			t.Errorf("G12: %d parks, %d spins; want the %d and %d of the poller", s.Parks, s.Spins, p.Parks(), p.Spins())
		}
	})
}
