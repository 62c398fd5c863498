package exectest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/internal/contract"
	"eventide/props/history"
	"eventide/props/interleave/control"
)

// underChosen is Check in a process of the command interleave, which calls it once for
// each schedule. It runs one scene on one subject, and judges the run by every predicate.
func underChosen(factory func() Subject, opts []Option) (Result, error) {
	c := defaults()
	for _, o := range opts {
		o(&c)
	}
	if err := errors.Join(c.bad...); err != nil {
		return Result{}, err
	}
	c.chosen, c.realTime = true, true // time is virtual, but operations take some of it
	if c.timers != history.CancelTimers {
		c.timers = history.AnyTimers // the other policies compare a deadline with the moment inside a call
	}
	s, err := c.fresh(factory)
	if err != nil {
		return Result{}, fmt.Errorf("exectest: %w", err)
	}
	defer abandon(s)
	c.lacks = lacking(s)
	rng := rand.New(rand.NewPCG(rand.Uint64(), 0)) // the command chooses the seed of package rand
	return c.follow(s, drawScene(rng, menuOf(s, &c)))
}

// follow runs the scene and judges the run.
func (c *config) follow(s Subject, sc scene) (Result, error) {
	d, trace := newChosenDriver(s, c)
	defer trace.close()
	for i, p := range sc {
		last := i == len(sc)-1
		if last {
			d.watcher(d.watchDone)
		}
		if !d.wave(trace, p, last) {
			break
		}
	}
	close(d.quit)
	h, err := history.Of(trace.Events(), c.rules(s))
	if err != nil {
		return Result{}, fmt.Errorf("exectest: %w", err)
	}
	verdicts := h.Check()
	found := c.violations(verdicts, run{history: h, done: trace.isDone()})
	return chosenResult(verdicts, found, sc, h), nil
}

func newChosenDriver(s Subject, c *config) (*driver, *trace) {
	d, trace := newDriver(s, c), newTrace()
	d.log = trace
	return d, trace
}

// wave starts the actors of p and waits until no goroutine can run. It reports whether
// each call has returned and each accepted task has run; after the last wave, also
// whether Done was seen closed.
func (d *driver) wave(t *trace, p program, last bool) bool {
	t.act(len(p.actors))
	for _, steps := range p.actors {
		steps = slices.Clone(steps)
		steps[0].pause = max(0, steps[0].pause-t.now()) // the first pause counts from the beginning of the scene
		go func() {
			defer t.act(-1)
			d.steps(steps)
		}()
	}
	return t.untilRest(func() bool { return t.atRest() && (!last || t.isDone()) })
}

// Pauses of untilRest. The command moves the clock when no goroutine can run, and when a
// goroutine polls in a loop. The last pause is longer than the error by which timers may
// expire early.
const (
	firstPause = 50 * time.Microsecond
	lastPause  = 20 * time.Second
	checkPause = 2 * time.Second
)

// spinOperations is the least number of operations in a checkPause that shows that a
// goroutine polls in a loop. A timer that expires each millisecond makes fewer.
const spinOperations = 25000

// untilRest waits for the condition, in longer and longer pauses, and reports whether it
// holds in the end. It gives up when nothing happens any more. While a goroutine polls in
// a loop, another one that can run may have to wait for half a million consecutive
// operations. Then untilRest waits without pauses, each of which would interrupt that
// sequence, and leaves it to the command to judge an endless loop.
func (t *trace) untilRest(holds func() bool) bool {
	for pause := firstPause; pause < lastPause; pause *= 4 {
		time.Sleep(pause)
		if holds() {
			return true
		}
	}
	before := control.Operations()
	time.Sleep(checkPause)
	if holds() {
		return true
	}
	if control.Operations()-before < spinOperations {
		return false
	}
	<-t.await(holds)
	return true
}

// violations returns the violations that count. If the predicates and counts show
// none, it returns one for a call that has not returned.
func (c *config) violations(verdicts []history.Verdict, r run) []history.Violation {
	var found []history.Violation
	add := func(violations ...history.Violation) {
		for _, v := range violations {
			if c.judges(v.Guarantee) {
				found = append(found, v)
			}
		}
	}
	for _, v := range verdicts {
		add(v.Violations...)
	}
	if len(found) == 0 {
		add(addsUp(r)...)
	}
	if len(found) == 0 {
		add(neverReturned(r.history)...)
	}
	return found
}

// neverReturned finds a call that has not returned at the end.
func neverReturned(h *history.History) []history.Violation {
	open := map[int]history.Event{}
	for _, e := range h.Events {
		switch e.Kind {
		case history.Invoke:
			open[e.N] = e
		case history.Return:
			delete(open, e.Call)
		}
	}
	for _, e := range h.Events {
		if _, is := open[e.N]; is {
			return []history.Violation{{
				Guarantee: "G3", Sentence: contract.Sentence("G3"), At: []int{e.N},
				Text: fmt.Sprintf("%v, called at #%d, had not returned when nothing else could happen", e.Op, e.N),
			}}
		}
	}
	return nil
}

// chosenReport begins with lines without times and labels, by which the command tells
// findings apart.
func chosenReport(sc scene, h *history.History, found []history.Violation) string {
	var b strings.Builder
	v := found[0]
	fmt.Fprintf(&b, "%s %s\n%s\n\nscene\n  %v\n\ntrace\n", v.Guarantee, v.Sentence, v.Text, sc)
	if err := history.Columns(&b, h, v.At...); err != nil {
		panic(err) // a strings.Builder does not fail
	}
	for _, other := range found[1:] {
		fmt.Fprintf(&b, "also    %v\n", other)
	}
	return b.String()
}

// chosenResult has a row for each guarantee whose premise occurred, and for each
// violation.
func chosenResult(verdicts []history.Verdict, found []history.Violation, sc scene, h *history.History) Result {
	var r Result
	row := func(guarantee, sentence string) *Row {
		for i := range r.Rows {
			if r.Rows[i].Guarantee == guarantee {
				return &r.Rows[i]
			}
		}
		r.Rows = append(r.Rows, Row{Guarantee: guarantee, Sentence: sentence, Programs: 1})
		return &r.Rows[len(r.Rows)-1]
	}
	for _, v := range verdicts {
		if v.Premise > 0 {
			row := row(v.Predicate.Guarantee, v.Predicate.Sentence)
			row.Status, row.Exercised = Pass, row.Exercised+v.Premise
		}
	}
	for _, v := range found {
		row := row(v.Guarantee, v.Sentence)
		row.Status, row.Text = Fail, v.String()
	}
	if len(found) > 0 {
		row(found[0].Guarantee, found[0].Sentence).Report = chosenReport(sc, h, found)
	}
	r.sort()
	return r
}

// runChosen is Run in a process of the command interleave. Only the first violation has a
// report: the others may follow from it.
func runChosen(t *testing.T, factory func() Subject, opts []Option) Result {
	t.Helper()
	r, err := underChosen(factory, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if row.Report != "" {
			t.Error(row.Report)
		}
	}
	return r
}
