package exectest

import (
	"maps"
	"testing"
	"time"

	"eventide/props/history"
)

// Option changes how the kit runs.
type Option func(*config)

type config struct {
	realTime     bool
	seed         uint64
	rounds       int // 0: each guarantee's own number
	patience     time.Duration
	queueBound   int
	timers       history.TimerPolicy
	classify     func(error) history.Outcome
	without      map[string]string
	plain        bool
	panicsEscape bool
	only         []string
	t            *testing.T // nil in Check
}

// DefaultPatience is how long, in real time, a run may take before the kit
// gives it up.
const DefaultPatience = time.Minute

func configure(opts []Option) config {
	c := config{
		seed:     1,
		patience: DefaultPatience,
		timers:   history.AnyTimers,
		without:  map[string]string{},
		classify: func(error) history.Outcome { return history.Refused },
	}
	for _, o := range opts {
		o(&c)
	}
	return c
}

// RealTime runs the programs on the wall clock instead of in a bubble. It is
// for subjects that wait for the network or for a device. Guarantees about
// exact times are then checked only in the direction that a busy machine
// cannot falsify.
func RealTime() Option { return func(c *config) { c.realTime = true } }

// Seed sets where generated programs come from. The same seed gives the same
// programs.
func Seed(seed uint64) Option { return func(c *config) { c.seed = seed } }

// Rounds sets how many programs each guarantee gets; fixed ones come first.
func Rounds(n int) Option { return func(c *config) { c.rounds = n } }

// Patience sets how long, in real time, a single run may take. A run that
// takes longer is given up, its goroutines with it, and counts as a failure.
func Patience(d time.Duration) Option { return func(c *config) { c.patience = d } }

// QueueBound says that the subject refuses tasks when n, or 16 if that is
// more, have been accepted and not begun (G19).
func QueueBound(n int) Option { return func(c *config) { c.queueBound = n } }

// Timers says what a shutdown does with waiting timers. Without it nothing is
// expected of them.
func Timers(p history.TimerPolicy) Option { return func(c *config) { c.timers = p } }

// Classify tells the kit the reason for a refusal, given its error: one of
// history's Refused outcomes. Without it a refusal has no reason, and only a
// refusal for which there can be none is wrong.
func Classify(f func(error) history.Outcome) Option { return func(c *config) { c.classify = f } }

// Without says that the subject does not promise a guarantee, such as "G10",
// and why. It is listed as not supported.
func Without(guarantee, reason string) Option {
	return func(c *config) {
		c.without = maps.Clone(c.without)
		c.without[guarantee] = reason
	}
}

// Only limits the run to the named guarantees.
func Only(guarantees ...string) Option { return func(c *config) { c.only = guarantees } }

// PlainVariable lets every body write one ordinary variable, so that under
// -race the detector proves that each body sees the effects of the one before
// (G2). Without -race it shows nothing.
func PlainVariable() Option { return func(c *config) { c.plain = true } }

// PanicsEscape says that a panic in a task is known to kill the process. G14
// then fails without being tried, which would end the test binary.
func PanicsEscape() Option { return func(c *config) { c.panicsEscape = true } }
