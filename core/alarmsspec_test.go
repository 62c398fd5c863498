package core_test

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

var errStop = errors.New("the alarm does not stop")

// stubborn is the system's clock. It takes i+1 seconds to set the alarm of i+1 hours. stubborn[i] is what a call that stops
// that alarm does then: it "panics" or "exits"; "" if it returns.
type stubborn []string

func (stubborn) Now() time.Time { return time.Now() }

func (c stubborn) AfterFunc(d time.Duration, f func()) core.Alarm {
	alarm := time.AfterFunc(d, f)
	if d%time.Hour != 0 {
		return alarm // of the quiet period
	}
	i := int(d/time.Hour) - 1
	time.Sleep(time.Duration(i+1) * time.Second)
	return stubbornAlarm{alarm, c[i]}
}

type stubbornAlarm struct {
	*time.Timer
	how string
}

func (a stubbornAlarm) Stop() bool {
	was := a.Timer.Stop()
	switch a.how {
	case "panics":
		panic(errStop)
	case "exits":
		runtime.Goexit()
	}
	return was
}

// TestPropG15AlarmsThatDoNotStop: of several graceful calls at once the first one that has set its alarm counts.
// If the alarm of a later one does not stop, this is logged, and nothing depends on it. If that of the first one
// does not stop, the end has the error. All this holds too if the logger, or the call that stops an alarm, ends its goroutine.
func TestPropG15AlarmsThatDoNotStop(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		clock := stubborn(rapid.SliceOfN(rapid.SampledFrom([]string{"", "panics", "exits"}), 1, 4).Draw(rt, "stopping"))
		loggerExits := rapid.Bool().Draw(rt, "the logger exits")
		pool := rapid.Bool().Draw(rt, "pool")
		quiet := rapid.SampledFrom([]time.Duration{0, 10 * time.Second}).Draw(rt, "quiet")
		want := map[string]int{}
		wantErr := map[string]error{"panics": errStop, "exits": core.ErrGoexit}[clock[0]]
		for i, how := range clock {
			if wantErr != nil && i == 0 {
				want[map[bool]string{false: "the executor did not end in order", true: "the pool did not end in order"}[pool]]++
			} else if i > 0 && how == "panics" { // a call that exits does not come to its log
				want["the alarm of a second shutdown call could not be stopped"]++
			}
		}
		checkInBubble(t, rt, func(t *testing.T) string {
			var mu sync.Mutex
			got := map[string]int{}
			opts := []core.Option{core.WithClock(clock), core.WithLogger(slog.New(recordsHandler{func(message string) {
				mu.Lock()
				defer mu.Unlock()
				got[message]++
				if loggerExits {
					runtime.Goexit()
				}
			}}))}
			var ex core.EventExecutor
			if pool {
				ex = coretest.NewPool(t, 1, opts...)
			} else {
				ex = coretest.NewExecutor(t, opts...)
			}
			coretest.OnLoop(t, ex, func() {})
			start := time.Now()
			var callers sync.WaitGroup
			for i := range clock {
				callers.Go(func() { coretest.MustShutdownGracefully(t, ex, quiet, time.Duration(i+1)*time.Hour) })
			}
			report := coretest.AwaitDone(t, ex)
			ended := time.Since(start)
			callers.Wait()
			if err := ex.Termination().Err(); !errors.Is(err, wantErr) || report.Timeout != time.Hour || ended != max(time.Second, quiet) || report.TimedOut {
				return fmt.Sprintf("G15, G16: %v: ended after %v with %v, and the timeout %v", clock, ended, err, report.Timeout)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				return fmt.Sprintf("G15: %v: the log has %v, want %v", clock, got, want)
			}
			return ""
		})
	})
}
