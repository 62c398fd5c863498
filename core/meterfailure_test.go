package core_test

import (
	"log/slog"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestMeterOfASleepThatFails: a sleep that a panic of the clock cuts short is no idle time from then on: the hooks that follow
// are busy time.
func TestMeterOfASleepThatFails(t *testing.T) {
	for name, open := range map[string]func(t testing.TB, opts ...core.Option) core.EventExecutor{
		"executor": func(t testing.TB, opts ...core.Option) core.EventExecutor { return coretest.NewExecutor(t, opts...) },
		"pool":     func(t testing.TB, opts ...core.Option) core.EventExecutor { return coretest.NewPool(t, 1, opts...) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				ex := open(t, core.WithClock(&alarmless{manualClock: newManualClock()}), core.WithLogger(slog.New(slog.DiscardHandler)))
				meter := ex.(interface{ NewMeter() *core.Meter }).NewMeter()
				began, busy := make(chan struct{}), make(chan struct{})
				_, err := ex.(hooked).AddShutdownHook(func() { close(began); <-busy })
				coretest.Must(t, err)
				mustSchedule(t, ex, time.Hour, func() {}) // the loop sets an alarm, and fails
				<-began
				before := meter.Read().Busy
				time.Sleep(time.Minute)
				coretest.Want(t, "busy time of the hook", meter.Read().Busy-before, time.Minute)
				close(busy)
				coretest.AwaitDone(t, ex)
			})
		})
	}
}

// hooked is what both executors offer.
type hooked interface {
	AddShutdownHook(run func()) (remove func() bool, err error)
}
