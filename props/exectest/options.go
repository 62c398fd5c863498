package exectest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eventide/internal/contract"
	"eventide/props/history"
)

// Option changes how the kit runs.
type Option func(*config)

type config struct {
	realTime     bool
	chosen       bool // schedules are chosen: see underChosen
	seed         uint64
	rounds       int           // 0: each guarantee's own number
	hammerTime   time.Duration // 0: DefaultHammerTime
	patience     time.Duration
	queueBound   int
	timers       history.TimerPolicy
	classify     func(error) history.Outcome
	without      map[string]string
	plain        bool
	panicsEscape bool
	only         []string
	t            *testing.T // nil in Check
	root         *testing.T // the test of Run's caller
	given        []string   // the options as Go expressions, without Only and Seed
	bad          []error    // errors of the options

	lacks    map[string]bool          // see lacking
	previous *atomic.Pointer[Subject] // what the factory returned last
	subject  string                   // the type of the subject
	failures []string                 // found so far
	line     string                   // the replay line of the clause that is being checked
	others   *elsewhere               // breaches in runs made for another guarantee
}

// DefaultPatience is how long, in real time, a run may take before the kit abandons it.
const DefaultPatience = time.Minute

// configure applies the options and inspects the subject.
func configure(factory func() Subject, opts []Option) (config, error) {
	c := defaults()
	for _, o := range opts {
		o(&c)
	}
	c.want(factory != nil, "the factory is nil, want a function that returns a fresh Subject")
	if err := errors.Join(c.bad...); err != nil {
		return c, err
	}
	return c, c.inspect(factory)
}

func defaults() config {
	return config{
		seed:     1,
		patience: DefaultPatience,
		timers:   history.AnyTimers,
		without:  map[string]string{},
		others:   &elsewhere{},
		previous: new(atomic.Pointer[Subject]),
		classify: func(error) history.Outcome { return history.Refused },
	}
}

// inspect finds which interfaces the subject lacks, unless there is nothing to run. It returns an
// error if the subject refuses the first shutdown call: such a subject never ends, so most
// predicates would find nothing to judge, and nothing wrong.
func (c *config) inspect(factory func() Subject) error {
	if !slices.ContainsFunc(c.plan(), func(cl *clause) bool { _, declared := c.without[cl.name]; return !declared }) {
		return nil
	}
	var lacks atomic.Pointer[map[string]bool] // an abandoned run may still write it
	var kind atomic.Value
	probe := func() Subject {
		s := factory()
		if !isNil(s) {
			missing := lacking(s)
			kind.Store(fmt.Sprintf("%T", s))
			lacks.Store(&missing)
		}
		return s
	}
	r := execute(probe, shortest(), c, false)
	if r.refusal != nil {
		return fmt.Errorf("exectest: the first call Shutdown(0, %v) of a fresh Subject returned %q, want nil", unit, r.refusal.Error())
	}
	if m := lacks.Load(); m != nil {
		c.lacks = *m
		c.subject = kind.Load().(string)
		return nil
	}
	if r.hung {
		return fmt.Errorf("exectest: the factory did not return within %v", c.patience)
	}
	return fmt.Errorf("exectest: %w", r.err)
}

// give records an option for the replay line.
func (c *config) give(format string, args ...any) {
	c.given = append(c.given, "exectest."+fmt.Sprintf(format, args...))
}

// want records an error of an option unless ok is true.
func (c *config) want(ok bool, format string, args ...any) {
	if !ok {
		c.bad = append(c.bad, fmt.Errorf("exectest: "+format, args...))
	}
}

// RealTime runs the programs on the wall clock instead of in a bubble. It is for subjects
// that wait for the network or for a device. Guarantees about exact times are then checked
// only for events that are too early, because a busy machine makes any event late.
func RealTime() Option {
	return func(c *config) {
		c.give("RealTime()")
		c.realTime = true
	}
}

// Seed sets the seed of generated programs. Equal seeds give equal programs.
func Seed(seed uint64) Option { return func(c *config) { c.seed = seed } }

// Rounds sets the number of programs for each guarantee; fixed programs come first. The
// number of runs without the log changes in proportion.
func Rounds(n int) Option {
	return func(c *config) {
		c.give("Rounds(%d)", n)
		c.want(n >= 1, "Rounds(%d): want at least 1", n)
		c.rounds = n
	}
}

// HammerTime sets how long, in real time, the runs without the log that race with the
// shutdown may take for each guarantee. If this time ends before all planned runs were
// made, the table of results has the number of runs that were judged.
func HammerTime(d time.Duration) Option {
	return func(c *config) {
		c.give("HammerTime(%d)", d)
		c.want(d > 0, "HammerTime(%v): want more than 0", d)
		c.hammerTime = d
	}
}

// Patience sets how long, in real time, a single run may take. The kit abandons a run that
// takes longer, together with its goroutines, and reports a failure.
func Patience(d time.Duration) Option {
	return func(c *config) {
		c.give("Patience(%d)", d)
		c.want(d > 0, "Patience(%v): want more than 0", d)
		c.patience = d
	}
}

// QueueBound declares that the subject may refuse a task while max(16, n) accepted tasks have
// not begun (G19). The kit then judges refusals before that as wrong. It does not judge that
// the subject refuses any: no program fills a queue.
func QueueBound(n int) Option {
	return func(c *config) {
		c.give("QueueBound(%d)", n)
		c.want(n >= 1, "QueueBound(%d): want at least 1", n)
		c.queueBound = n
	}
}

// Timers declares what a shutdown does with waiting timers. Without this option the
// kit does not judge what becomes of them.
func Timers(p history.TimerPolicy) Option {
	return func(c *config) {
		c.give("Timers(history.%s)", p)
		c.timers = p
	}
}

// Classify sets the function that maps the error of a refusal to its reason: one of
// history's Refused outcomes. Without this option the kit does not know the reasons, and
// a refusal is wrong only if no reason could justify it.
func Classify(f func(error) history.Outcome) Option {
	return func(c *config) {
		c.give("Classify(classify)")
		c.want(f != nil, "Classify(nil): want a function")
		c.classify = f
	}
}

// Without declares that the subject does not promise a guarantee, such as "G10", and why.
// The result lists the guarantee as not supported. Without("G2", ...) also says that bodies may
// overlap: then a task may begin while a hook runs, and timers with the same deadline begin
// together.
func Without(guarantee, reason string) Option {
	return func(c *config) {
		n := number(guarantee)
		c.want(n >= 1 && n <= lastGuarantee && guarantee == fmt.Sprintf("G%d", n), "Without(%q, ...): no such guarantee, want one of G1 to G%d", guarantee, lastGuarantee)
		c.give("Without(%q, %q)", guarantee, reason)
		c.want(reason != "", "Without(%q, %q): want the reason", guarantee, reason)
		c.without = maps.Clone(c.without)
		c.without[guarantee] = reason
	}
}

// lastGuarantee is the highest number of a guarantee. Without accepts guarantees that the
// kit has no clause for, too.
var lastGuarantee = len(contract.Guarantees)

// Only limits the run to the programs of the named guarantees, such as "G3", and the
// judgement to these guarantees.
func Only(guarantees ...string) Option {
	return func(c *config) {
		known := names()
		for _, g := range guarantees {
			c.want(withoutClause[g] == "", "Only(%q): the kit has no programs for it, as %s; want one of %s", g, withoutClause[g], strings.Join(known, " "))
			c.want(slices.Contains(known, g) || withoutClause[g] != "", "Only(%q): the kit has no such guarantee, want one of %s", g, strings.Join(known, " "))
		}
		c.only = guarantees
	}
}

// names returns the guarantees of the kit.
func names() []string {
	var all []string
	for i := range clauses {
		all = append(all, clauses[i].name)
	}
	return all
}

// PlainVariable lets every body write one ordinary variable, so that with -race the
// detector checks that each body sees the effects of the one before (G2). Without -race
// it has no effect.
func PlainVariable() Option {
	return func(c *config) {
		c.give("PlainVariable()")
		c.plain = true
	}
}

// PanicsEscape declares that a panic in a task kills the process. G14 then fails without a
// run, which would end the test binary.
func PanicsEscape() Option {
	return func(c *config) {
		c.give("PanicsEscape()")
		c.panicsEscape = true
	}
}
