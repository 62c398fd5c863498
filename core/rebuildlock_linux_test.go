package core_test

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

var errPlanted = errors.New("planted")

// nosyClock is the system's clock, whose alarms ask something before they stop.
type nosyClock struct {
	systemClock
	ask func()
	set chan struct{} // an alarm has been set
}

func (c nosyClock) AfterFunc(d time.Duration, f func()) core.Alarm {
	defer func() {
		select {
		case c.set <- struct{}{}:
		default:
		}
	}()
	return nosyAlarm{time.AfterFunc(d, f), c.ask}
}

type nosyAlarm struct {
	*time.Timer
	ask func()
}

func (a nosyAlarm) Stop() bool { a.ask(); return a.Timer.Stop() }

// The executor never calls a Clock while it holds a lock, not even to stop the poller's alarm
// in a rebuild.
func TestG18TheAlarmOfARebuildIsStoppedWithoutTheLock(t *testing.T) {
	if !crashes(t) { // a loop that has locked itself out cannot be shut down
		return
	}
	for _, e := range epolls {
		var l *core.EventLoop
		clock := nosyClock{ask: func() { l.Stats() }, set: make(chan struct{}, 1)}
		k := newTamper()
		p, err := e.make(clock, k.SystemCalls)
		coretest.Must(t, err)
		l, err = core.NewEventLoop(core.WithPoller(p), core.WithClock(clock))
		coretest.Must(t, err)
		s := mustSource(t)
		heard := make(chan struct{}, 16)
		mustRegister(t, l, s.fd, core.Readable, func(core.Readiness) { _ = s.Drain(); heard <- struct{}{} })
		mustSchedule(t, l, time.Hour, func() {})
		coretest.Await(t, "the alarm", clock.set)
		k.fail("poll", errPlanted)
		coretest.Must(t, s.Input())
		coretest.Await(t, e.name+": the handler", heard)
		for l.Stats().Rebuilds == 0 {
			runtime.Gosched() // a Wait that had begun before only fails the next time
		}
		coretest.Must(t, s.Input())
		coretest.Await(t, e.name+": the handler, after the rebuild", heard)
		if err := l.Close(); err != nil {
			t.Errorf("%s: Close: %v", e.name, err)
		}
	}
}

// panicky is a poller that fails once, and panics in Reopen.
type panicky struct {
	core.IOPoller
	in    string
	armed atomic.Bool
}

func (p *panicky) Wait(until core.Deadline) error {
	if p.armed.Load() {
		return errPlanted // before the sleep: perhaps nothing would end it
	}
	err := p.IOPoller.Wait(until)
	if p.armed.Load() {
		return errPlanted
	}
	return err
}

func (p *panicky) check(call string) {
	if p.in == call && p.armed.CompareAndSwap(true, false) {
		panic(errPoller)
	}
}

func (p *panicky) Ready() []core.PollEvent { p.check("Ready"); return p.IOPoller.Ready() }
func (p *panicky) Reopen() error           { p.check("Reopen"); return p.IOPoller.Reopen() }
func (p *panicky) Add(fd int, i core.Interest, token uint64) error {
	p.check("Add")
	return p.IOPoller.Add(fd, i, token)
}

// A poller that panics in a rebuild fails the loop: accepted work runs, registrations are
// notified, and the executor ends.
func TestG15APollerThatPanicsInARebuild(t *testing.T) {
	if !crashes(t) { // a lock that is never released holds up whoever asks
		return
	}
	for _, in := range []string{"Ready", "Reopen", "Add"} {
		inner, err := core.NetpollPoller(nil, 0, core.RealCalls())
		coretest.Must(t, err)
		p := &panicky{IOPoller: inner, in: in}
		l, err := core.NewEventLoop(core.WithPoller(p))
		coretest.Must(t, err)
		r := mustRegister(t, l, mustSource(t).fd, core.Readable, func(core.Readiness) {})
		ended := make(chan error, 1)
		r.OnClose(func(err error) { ended <- err })
		coretest.OnLoop(t, l, func() { p.armed.Store(true) })
		ran := false
		if err := l.Execute(func() { ran = true }); err != nil {
			ran = true // refused: the loop was faster
		}
		coretest.Await(t, in+": the end", l.Termination().Done())
		if err := l.Termination().Err(); !errors.Is(err, errPoller) || !ran {
			t.Errorf("G15: %s: Err %v, ran %v; want the panic, true", in, err, ran)
		}
		if err := <-ended; !errors.Is(err, errPoller) {
			t.Errorf("G22: %s: the registration ended with %v, want the panic", in, err)
		}
	}
}
