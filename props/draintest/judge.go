package draintest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// judge accumulates the results of all rounds.
type judge struct {
	rounds     int
	unaccepted int
	promised   int     // answers of this round to requests that a ready server must not refuse
	unserved   []*Call // of this round: see unservedProof
	rows       map[string]*tally
}

// tally counts the events and failures of one verdict.
type tally struct {
	exercised int
	failures  []*Call        // each has a timeline
	kinds     map[string]int // failures by kind of client
	text      string         // of a failure without a call, or why there is no verdict
	example   string         // of a failure without a call
	failed    bool
	notRun    bool
}

func (j *judge) row(verdict string) *tally {
	if j.rows == nil {
		j.rows = map[string]*tally{}
	}
	if j.rows[verdict] == nil {
		j.rows[verdict] = &tally{kinds: map[string]int{}}
	}
	return j.rows[verdict]
}

func (t *tally) fail(c *Call) {
	t.failed = true
	t.failures = append(t.failures, c)
	t.kinds[c.client]++
}

// open reports whether another round may decide more: no verdict has failed, and at least
// one is inconclusive.
func (j *judge) open() bool {
	undecided := false
	for _, v := range Verdicts() {
		t := j.row(v)
		if t.failed {
			return false
		}
		undecided = undecided || !t.notRun && t.exercised == 0
	}
	return undecided
}

// add judges one round.
func (j *judge) add(r *round) {
	j.rounds++
	j.promised, j.unserved = 0, nil
	r.mu.Lock()
	calls := slices.Clone(r.calls)
	r.mu.Unlock()
	for _, c := range calls {
		j.call(r, c)
	}
	j.readiness(r)
	j.end(r)
	j.leftover(r)
}

// call judges one call, which has ended.
func (j *judge) call(r *round, c *Call) {
	if c.ended.Before(r.shutdownAt) && c.outcome == answered {
		return
	}
	late := c.ended.After(r.shutdownAt.Add(r.kit.Deadline)) // a call that ends after the deadline is not judged
	began := c.accepted || r.server.Endpoint.knows(c.unit)
	lost, cuts, clean, ready := j.row(NoneLost), j.row(NoneCut), j.row(CleanRefusal), j.row(ReadyFirst)
	promised := c.ended.Before(r.balancer.promise(r.kit.Lag))
	probe := c.client == probeName || c.client == watchName
	if began && !late && !probe {
		lost.exercised++
	}
	if c.live && !late && !probe {
		cuts.exercised++
	}
	switch {
	case c.outcome == answered:
		if promised && !c.ended.Before(r.shutdownAt) {
			j.promised++
		}
	case late:
	case c.outcome == cut:
		cuts.fail(c)
	case c.outcome == unanswered && isReset(c.err) && c.live && !c.accepted:
		clean.fail(c)
	case probe && c.outcome == refused && c.begun: // the probe answered "not ready"
	case began:
		lost.fail(c)
	case c.outcome == refused && promised:
		ready.fail(c)
	case c.outcome == refused:
		clean.exercised++
		if c.began.Before(r.balancer.promise(r.kit.Lag / 2)) {
			j.unserved = append(j.unserved, c)
		}
	case !c.fresh:
		clean.exercised++ // the server closed the connection between two requests, which HTTP allows
	case r.connected.After(c.ended):
		clean.fail(c) // the listener was open, so the server had accepted the connection
	case promised:
		ready.fail(c)
	default:
		j.unaccepted++
	}
}

// unservedProof is the number of requests that prove that ready-first is violated: they began
// in the first half of the lag and were refused after the lag. Such a server lets connections
// wait and then refuses them. One such request proves nothing, because the machine may have
// delayed it.
const unservedProof = 2

// readiness judges ready-first, except for failures that call has found.
func (j *judge) readiness(r *round) {
	t := j.row(ReadyFirst)
	switch {
	case r.server.Readiness == NoReadiness:
		t.notRun, t.text = true, "the server has no readiness probe"
	case len(j.unserved) >= unservedProof:
		for _, c := range j.unserved {
			t.fail(c)
		}
	case !r.balancer.said: // the listener closed between two probes, not provably too early
		if t.exercised == 0 {
			t.text = "no probe was answered by \"not ready\""
		}
	case r.connected.Before(r.balancer.promise(r.kit.Lag)):
		if t.exercised == 0 {
			t.text = "no connection was made after the load balancer had stopped sending"
		}
	default:
		t.exercised += j.promised
		t.text = ""
	}
}

func (j *judge) end(r *round) {
	t := j.row(Ended)
	t.exercised++
	if r.doneAt.IsZero() {
		t.failed = true
		t.text = fmt.Sprintf("the server had not ended %v after the call of Shutdown", r.kit.Deadline)
	}
}

func (j *judge) leftover(r *round) {
	t := j.row(NothingLeft)
	switch {
	case r.server.elsewhere:
		t.notRun, t.text = true, "the server is another process, whose end closes all its descriptors"
	case r.doneAt.IsZero() && !t.failed:
		t.notRun, t.text = true, "the server did not end"
	case len(r.leftover) > 0:
		t.failed = true
		t.text = fmt.Sprintf("%d goroutines and descriptors", len(r.leftover))
		t.example = r.leftover[0]
	case r.judged:
		t.exercised++
		if !r.descr {
			t.text = "goroutines only: this system does not list descriptors"
		}
	}
}

func (j *judge) result() Result {
	result := Result{Rounds: j.rounds, Unaccepted: j.unaccepted}
	for _, v := range Verdicts() {
		t := j.row(v)
		row := Row{Verdict: v, Sentence: Sentence(v), Exercised: t.exercised, Text: t.text}
		switch {
		case t.failed:
			row.Status = Fail
			t.explain(&row)
		case t.notRun:
			row.Status = NotRun
		case t.exercised > 0:
			row.Status = Pass
		default:
			row.Status = Inconclusive
			if row.Text == "" {
				row.Text = "the event that this verdict judges did not occur"
			}
		}
		result.Rows = append(result.Rows, row)
	}
	return result
}

// explain fills the texts of a failure.
func (t *tally) explain(row *Row) {
	row.Failures = max(1, len(t.failures))
	if len(t.failures) > 0 {
		var counts []string
		for _, kind := range slices.Sorted(maps.Keys(t.kinds)) {
			counts = append(counts, fmt.Sprintf("%d of %s", t.kinds[kind], kind))
		}
		row.Text = fmt.Sprintf("%d failures (%s)", row.Failures, strings.Join(counts, ", "))
		t.example = slices.MinFunc(t.failures, shorter).story()
	}
	row.Report = fmt.Sprintf("%s: %s\n%s", row.Sentence, row.Text, t.example)
}
