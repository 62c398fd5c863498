package process

import (
	"iter"
	"slices"
	"testing"
	"time"

	"eventide/core"

	"pgregory.net/rapid"
)

// reported is an executor whose report is what a test says.
type reported struct {
	core.EventExecutor
	term  *core.Termination
	now   core.Report
	busy  int64 // bodies that run in a pool
	idle  int64 // workers of a pool that sleep
	slept int64 // how often the loop has slept
	runs  bool  // a body runs

	// Of the specification.
	before core.Report
	since  time.Time // when before was another one, or nothing waited
	probed bool
}

func (r *reported) Termination() *core.Termination { return r.term }

func (r *reported) Stats() core.Stats {
	n := r.term.Report()
	return core.Stats{Accepted: n.Accepted, Ran: n.Ran, Cancelled: n.Cancelled, Pending: n.Accepted - n.Ran - n.Cancelled,
		TimersRun: n.TimersRun, HooksRun: n.HooksRun, Busy: r.busy, Workers: r.busy + r.idle, Parks: r.slept / 2, Spins: r.slept - r.slept/2}
}

func (r *reported) Running() string {
	if r.runs {
		return "a task is running"
	}
	return ""
}

// reportedGroup is a group of them.
type reportedGroup struct {
	Executor
	members []*reported
}

func (g *reportedGroup) All() iter.Seq[core.EventExecutor] {
	return func(yield func(core.EventExecutor) bool) {
		for _, m := range g.members {
			if !yield(m) {
				return
			}
		}
	}
}

func newReported(t *rapid.T) *reported {
	r := &reported{}
	var err error
	r.term, _, err = core.NewTermination(func() error { return nil }, func() core.Report { return r.now })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// work draws what the executor does until the next probe: often nothing, or bodies of one kind.
func (r *reported) work(t *rapid.T) {
	n := rapid.Int64Range(1, 2)
	waiting := r.now.Accepted - r.now.Ran - r.now.Cancelled
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		switch rapid.SampledFrom([]string{"accept", "run", "cancel", "timer", "hook", "busy", "sleep", "body", "other"}).Draw(t, "change") {
		case "accept":
			r.now.Accepted += n.Draw(t, "n")
		case "run":
			r.now.Ran += min(waiting, n.Draw(t, "n"))
		case "cancel":
			r.now.Cancelled += min(max(0, r.now.Accepted-r.now.Ran-r.now.Cancelled), n.Draw(t, "n"))
		case "timer":
			r.now.TimersRun += n.Draw(t, "n")
		case "hook":
			r.now.HooksRun += n.Draw(t, "n")
		case "busy":
			r.busy, r.idle = rapid.Int64Range(0, 3).Draw(t, "busy"), rapid.Int64Range(0, 1).Draw(t, "idle")
		case "sleep":
			r.slept++
		case "body":
			r.runs = !r.runs
		case "other": // is no progress
			r.now.Rejected++
			r.now.TimersCancelled++
		}
	}
}

// isStuck is the documentation of Health.Liveness.
func (r *reported) isStuck(now time.Time, limit time.Duration) bool {
	ran := func(x core.Report) [4]int64 { return [4]int64{x.Ran, x.Cancelled, x.TimersRun, x.HooksRun} }
	if !r.probed || ran(r.now) != ran(r.before) || r.now.Accepted <= r.now.Ran+r.now.Cancelled+r.busy || r.idle > 0 {
		r.since = now
	}
	waits := r.probed && now.Sub(r.since) >= limit && (r.slept == 0 || r.runs)
	r.before, r.probed = r.now, true
	return waits
}

// TestPropProgress: a probe names exactly the executors that had waiting tasks and ran or cancelled
// nothing since an earlier probe that is at least the limit ago.
func TestPropProgress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := time.Duration(rapid.IntRange(1, 3).Draw(t, "limit")) * time.Second
		alone := newReported(t)
		group := &reportedGroup{members: []*reported{newReported(t), newReported(t)}}
		m := newMonitor([]Step{{Name: "run"}, {Name: "alone", Executor: alone}, {Name: "group", Executor: group}})
		names := []string{"alone", "group[0]", "group[1]"}
		now := time.Unix(1, 0)
		for range rapid.IntRange(1, 12).Draw(t, "probes") {
			var want []string
			if rapid.IntRange(0, 4).Draw(t, "a member is replaced") == 0 {
				group.members[0] = newReported(t)
			}
			for i, r := range append([]*reported{alone}, group.members...) {
				r.work(t)
				if r.isStuck(now, limit) {
					want = append(want, names[i])
				}
			}
			if got := m.stuck(now, limit); !slices.Equal(got, want) {
				t.Fatalf("at %v the probe names %q, want %q", now.Sub(time.Unix(1, 0)), got, want)
			}
			now = now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "later")) * time.Second / 2)
		}
	})
}
