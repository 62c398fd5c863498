package stress

import (
	"fmt"
	"time"

	"eventide/core"
)

// kind is a way to shut an executor down. The first three leave time in which
// tasks are still accepted.
type kind uint8

const (
	quietPeriod kind = iota // ShutdownGracefully(quiet, long): ended by quiet
	drained                 // ShutdownGracefully(0, long): ended by the empty queue
	deadline                // ShutdownGracefully(short, short): ended by the timeout
	zero                    // ShutdownGracefully(0, 0)
	shutdown                // Shutdown()
	kinds
)

var kindNames = [kinds]string{
	"graceful, ended by quiet", "graceful, ended when drained", "graceful, ended by the deadline",
	"ShutdownGracefully(0, 0)", "Shutdown()",
}

func (k kind) String() string { return kindNames[k] }

// graceful reports whether tasks are accepted after the call.
func (k kind) graceful() bool { return k < zero }

// A short time is long enough for producers to get in and short enough for a
// thousand rounds. The long one is never waited for.
const (
	shortTime = time.Millisecond
	longTime  = time.Hour
)

// call shuts ex down.
func (k kind) call(ex core.EventExecutor) error {
	var err error
	switch k {
	case quietPeriod:
		_, err = ex.ShutdownGracefully(shortTime, longTime)
	case drained:
		_, err = ex.ShutdownGracefully(0, longTime)
	case deadline:
		_, err = ex.ShutdownGracefully(shortTime, shortTime)
	case zero:
		_, err = ex.ShutdownGracefully(0, 0)
	case shutdown:
		ex.Shutdown()
	}
	return err
}

// plan is what a round does besides producing at full speed.
type plan struct {
	kind   kind
	inside bool  // the shutdown call is made by a task
	extras bool  // there are hooks and timers
	load   int64 // the call comes when a producer has made so many attempts
}

func (p plan) String() string {
	s := fmt.Sprintf("%v, after %d attempts of a producer", p.kind, p.load)
	if p.inside {
		s += ", called from inside a task"
	}
	if p.extras {
		s += ", with hooks and timers"
	}
	return s
}

// In allPlans rounds every way to shut down is used, called from outside and from
// a task, with and without hooks and timers: that is differentPlans.
const (
	allPlans       = 36
	differentPlans = int(kinds) * 2 * 2
)

// planOf takes the three kinds of call in turn.
func planOf(round int) plan {
	kind := []kind{kind(round / 3 % 3), zero, shutdown}[round%3]
	load := []int64{2, 16, 64, 256}[round%4]
	return plan{kind: kind, inside: round/9%2 == 1, extras: round/18%2 == 1, load: load}
}

// timers is the policy of a round. With RunTimersUntilTimeout a periodic timer
// keeps the executor alive until the timeout, so that has to be short.
func (p plan) timers() core.TimersAtShutdown {
	return [kinds]core.TimersAtShutdown{core.CancelTimers, core.RunDueTimers, core.RunTimersUntilTimeout, core.RunDueTimers, core.RunTimersUntilTimeout}[p.kind]
}

// options of the executor of a round. By the contract a Clock's calls are never
// early and may be late, and the one of a deadline round is no earlier than
// release: so there is a task that is accepted between the call and the deadline
// by construction, however short the timeout is.
func (p plan) options(release <-chan struct{}) []core.Option {
	opts := []core.Option{core.WithTimersAtShutdown(p.timers())}
	if p.kind == deadline {
		opts = append(opts, core.WithClock(heldClock{release}))
	}
	return opts
}

// heldClock is the system's clock, late until release is closed.
type heldClock struct{ release <-chan struct{} }

func (heldClock) Now() time.Time { return time.Now() }

func (c heldClock) AfterFunc(d time.Duration, f func()) core.Alarm {
	return time.AfterFunc(d, func() {
		<-c.release
		f()
	})
}

// describe names a round for messages.
func describe(round int, p plan) string { return fmt.Sprintf("round %d (%v)", round, p) }
