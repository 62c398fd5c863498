package core_test

import (
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

func TestG12TheEpollPollersOnAClockThatIsRounded(t *testing.T) {
	t.Run("parked", func(t *testing.T) {
		clock := &countedClock{}
		p, err := core.NetpollPoller(clock, 0, core.RealCalls())
		coretest.Must(t, err)
		checkLateWaits(t, clock, p)
	})
	t.Run("blocking", func(t *testing.T) {
		clock := &countedClock{}
		p, err := core.BlockingPoller(clock, core.RealCalls())
		coretest.Must(t, err)
		checkLateWaits(t, clock, p)
	})
}

// Event loops in real time: timers, a quiet period.
func TestG10G12EventLoopsOnAClockThatLags(t *testing.T) {
	for name, show := range shownClocks {
		t.Run(name, func(t *testing.T) {
			epollLoops(t, func(t *testing.T, l *core.EventLoop) {
				for range 5 {
					timer := mustSchedule(t, l, 21*time.Millisecond, func() {})
					coretest.Await(t, "a timer on a clock that lags (G12)", timer.Done())
				}
				coretest.MustShutdownGracefully(t, l, 20*time.Millisecond, time.Hour)
				coretest.AwaitDone(t, l)
			}, core.WithClock(shownClock{show()}))
		})
	}
}

// A kernel timer that fires before the clock reaches its time is set again: two clocks of one
// machine may differ slightly.
func TestG12ATimerOfTheKernelThatIsEarly(t *testing.T) {
	for name, open := range map[string]func(s core.SystemCalls) (core.IOPoller, error){
		"parked":   func(s core.SystemCalls) (core.IOPoller, error) { return core.NetpollPoller(nil, 0, s) },
		"blocking": func(s core.SystemCalls) (core.IOPoller, error) { return core.BlockingPoller(nil, s) },
	} {
		t.Run(name, func(t *testing.T) {
			s := core.RealCalls()
			set := s.SetTimer
			s.SetTimer = func(fd int, d time.Duration) error { return set(fd, d/2) }
			p, err := open(s)
			coretest.Must(t, err)
			l := loopOn(t, p)
			for range 5 {
				timer := mustSchedule(t, l, 5*time.Millisecond, func() {})
				coretest.Await(t, "a timer that the kernel rang too early for (G12)", timer.Done())
			}
		})
	}
}
