package stress

import (
	"strings"
	"testing"

	"eventide/core"
)

// breakage is a bug of an executor, planted at its edge.
type breakage struct {
	name string
	plan plan
	want string // what the books say

	execute func(b *brokenExecutor, n int, task func()) error
	report  func(*core.Stats)
}

// brokenExecutor is an executor with a bug.
type brokenExecutor struct {
	*core.Executor
	bug   *breakage
	calls chan int // numbers the calls of Execute; holds one value
}

func (b *brokenExecutor) Execute(task func()) error {
	n := <-b.calls
	b.calls <- n + 1
	if b.bug.execute == nil {
		return b.Executor.Execute(task)
	}
	return b.bug.execute(b, n, task)
}

func (b *brokenExecutor) Stats() core.Stats {
	s := b.Executor.Stats()
	if b.bug.report != nil {
		b.bug.report(&s)
	}
	return s
}

// strikes is true of one call: one of those that the producers make before they
// wait for one another, and so before the round's own.
func strikes(n int) bool { return n == producers/2 }

// TestRoundsFail runs rounds of executors with bugs: each is seen, and called by
// its name.
func TestRoundsFail(t *testing.T) {
	graceful := plan{kind: drained, load: 16}
	hard := plan{kind: shutdown, load: 16}
	for _, bug := range []breakage{
		{name: "loses a task", plan: graceful, want: "G3: tasks of one producer", execute: func(b *brokenExecutor, n int, task func()) error {
			if strikes(n) {
				return nil
			}
			return b.Executor.Execute(task)
		}},
		{name: "runs a task twice", plan: graceful, want: "G4: a task ran after a later one of the same producer, or twice", execute: func(b *brokenExecutor, n int, task func()) error {
			if strikes(n) {
				return b.Executor.Execute(func() { task(); task() })
			}
			return b.Executor.Execute(task)
		}},
		{name: "runs a refused task", plan: hard, want: "G3: tasks of one producer", execute: func(b *brokenExecutor, n int, task func()) error {
			if strikes(n) {
				_ = b.Executor.Execute(task)
				return &core.RejectedError{State: core.StateShutdown, Reason: core.ErrShutdown}
			}
			return b.Executor.Execute(task)
		}},
		{name: "refuses before the close", plan: hard, want: "G5: a task was refused before the close", execute: func(b *brokenExecutor, n int, task func()) error {
			if strikes(n) {
				return &core.RejectedError{State: core.StateStarted, Reason: core.ErrShutdown}
			}
			return b.Executor.Execute(task)
		}},
		{name: "accepts after the close", plan: hard, want: "G5: a task was accepted after a call that closes admission had returned", execute: func(b *brokenExecutor, _ int, task func()) error {
			_ = b.Executor.Execute(task)
			return nil
		}},
		{name: "refuses after a graceful call", plan: graceful, want: "the task offered after the call had returned and before the close: accepted false, want true", execute: func(b *brokenExecutor, _ int, task func()) error {
			if b.State() >= core.StateShuttingDown {
				return &core.RejectedError{State: b.State(), Reason: core.ErrShutdown}
			}
			return b.Executor.Execute(task)
		}},
		{name: "counts wrongly", plan: hard, want: "G20: Stats.Ran, and tasks that ran", report: func(s *core.Stats) { s.Ran++ }},
	} {
		t.Run(bug.name, func(t *testing.T) {
			calls := make(chan int, 1)
			calls <- 0
			r, err := newRound(bug.plan, func(opts ...core.Option) (subject, error) {
				ex, err := core.NewExecutor(opts...)
				return &brokenExecutor{Executor: ex, bug: &bug, calls: calls}, err
			})
			if err != nil {
				t.Fatal(err)
			}
			b, err := r.run()
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(b.problems, "\n"); !strings.Contains(got, bug.want) {
				t.Errorf("got:\n%s\nwant: %s", got, bug.want)
			}
		})
	}
}

// TestObserverJudges gives the observer one wrong snapshot of each sort.
func TestObserverJudges(t *testing.T) {
	up, down, over := core.StateStarted, core.StateShutdown, core.StateTerminated
	for _, c := range []struct {
		want         string // empty: nothing is wrong
		s            core.Stats
		seen         core.State
		before, then bool // Done was closed before the snapshot, and after it
	}{
		{"", core.Stats{State: up, Accepted: 6, Ran: 3, Cancelled: 1, Pending: 2}, up, false, false},
		{"", core.Stats{State: down}, up, false, true},
		{"", core.Stats{State: over}, down, true, true},
		{"G1: a state came after a later one", core.Stats{State: up}, down, false, false},
		{"G15: Done is closed and the state is not Terminated", core.Stats{State: down}, down, true, true},
		{"G15: the state is Terminated and Done is open", core.Stats{State: over}, down, false, false},
		{"G20: accepted is not ran + cancelled + pending", core.Stats{State: up, Accepted: 2, Ran: 1}, up, false, false},
		{"G20: tasks are pending after Done", core.Stats{State: over, Accepted: 1, Pending: 1}, over, true, true},
	} {
		var o observer
		o.judge(c.s, c.seen, c.before, c.then)
		if _, found := o.faults[c.want]; c.want == "" && len(o.faults) > 0 || c.want != "" && (!found || len(o.faults) > 1) {
			t.Errorf("%+v: got %v, want only %q", c.s, o.faults, c.want)
		}
	}
}
