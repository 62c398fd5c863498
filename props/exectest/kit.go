package exectest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"eventide/props/history"
)

// clause is how the kit checks one guarantee.
type clause struct {
	name       string
	sentence   string
	predicates []string // judge the history; only breaches of this guarantee count
	needs      []string // interfaces without which there is nothing to check
	virtual    bool     // only virtual time can tell
	rounds     int
	program    func(rng *rand.Rand, round int) program // the program of one round, from 0
	extra      func(run) []history.Violation           // judges what the log does not show
	counts     bool                                    // extra needs the goroutines counted
	control    func() program                          // must end for the clause to mean anything
}

// Check puts the executor under every guarantee and returns what it found. The
// factory makes a fresh one for each program; in virtual time it is called
// inside the bubble, so what it makes belongs there. Check stops a guarantee at
// its first breach and looks for a smaller program that shows the same.
func Check(factory func() Subject, opts ...Option) Result {
	c := configure(opts)
	var r Result
	for _, cl := range clauses {
		if len(c.only) == 0 || slices.Contains(c.only, cl.name) {
			r.Rows = append(r.Rows, cl.check(factory, &c))
		}
	}
	return r
}

// Run is Check as a test: one subtest per guarantee, skipped where it is not
// supported or inconclusive. It returns the result for printing.
func Run(t *testing.T, factory func() Subject, opts ...Option) Result {
	t.Helper()
	c := configure(opts)
	var r Result
	for _, cl := range clauses {
		if len(c.only) > 0 && !slices.Contains(c.only, cl.name) {
			continue
		}
		t.Run(cl.name, func(t *testing.T) {
			own := c
			own.t = t
			row := cl.check(factory, &own)
			r.Rows = append(r.Rows, row)
			row.tell(t)
		})
	}
	return r
}

func (row Row) tell(t *testing.T) {
	t.Helper()
	switch row.Status {
	case Fail:
		t.Errorf("%s\n%s", row.Text, row.Report)
	case NotSupported:
		t.Skipf("not supported: %s", row.Text)
	case Inconclusive:
		t.Skipf("inconclusive: %s: %s", row.Sentence, row.Text)
	}
}

// supported tells whether there is anything to check, or why not.
func (cl *clause) supported(factory func() Subject, c *config) (ok bool, why string) {
	if reason, declared := c.without[cl.name]; declared {
		return false, reason
	}
	if cl.virtual && c.realTime {
		return false, "real time cannot tell"
	}
	var lacks atomic.Value // a string; the run may hang and go on beside us
	lacks.Store("")
	probe := func() Subject {
		s := factory()
		lacks.Store(missing(s, cl.needs))
		return s
	}
	if len(cl.needs) > 0 {
		execute(probe, plainest(), c, false)
	}
	why, _ = lacks.Load().(string)
	return why == "", why
}

func (cl *clause) check(factory func() Subject, c *config) Row {
	row := Row{Guarantee: cl.name, Sentence: cl.sentence}
	if ok, why := cl.supported(factory, c); !ok {
		row.Status, row.Text = NotSupported, why
		return row
	}
	if cl.name == "G14" && c.panicsEscape {
		row.Status, row.Text = Fail, "G14 a panic in a task kills the process (declared, not tried)"
		return row
	}
	if cl.control != nil && !execute(factory, cl.control(), c, false).done {
		row.Text = "the executor does not end even in the plainest program"
		return row
	}
	for i := range cl.howMany(c) {
		rng := rand.New(rand.NewPCG(c.seed, uint64(i)))
		p := cl.program(rng, i)
		row.Programs++
		found := cl.judge(execute(factory, p, c, cl.counts))
		row.Exercised += found.exercised
		if found.broken() {
			cl.explain(&row, factory, c, p, found)
			return row
		}
	}
	if row.Exercised > 0 {
		row.Status = Pass
		return row
	}
	row.Text = "what it speaks of did not occur"
	return row
}

// howMany is the number of rounds: fewer in real time, where each takes a while.
func (cl *clause) howMany(c *config) int {
	switch {
	case c.rounds > 0:
		return c.rounds
	case c.realTime:
		return max(2, cl.rounds/20)
	default:
		return cl.rounds
	}
}

// finding is what a clause makes of one run.
type finding struct {
	exercised  int
	violations []history.Violation
	run        run
}

func (f finding) broken() bool { return len(f.violations) > 0 }

// judge judges one run. A run that never came to rest breaks the clause whose
// program it ran; the other clauses have programs of their own.
func (cl *clause) judge(r run) finding {
	f := finding{run: r}
	switch {
	case r.hung:
		f.violations = []history.Violation{cl.violation("a run did not come to rest: a goroutine spins, or waits for a lock that nobody gives back")}
		return f
	case r.err != nil:
		f.violations = []history.Violation{cl.violation(r.err.Error())}
		return f
	}
	for _, v := range r.history.Check(cl.predicates...) {
		f.exercised += v.Premise
		for _, breach := range v.Violations {
			if breach.Guarantee == cl.name {
				f.violations = append(f.violations, breach)
			}
		}
	}
	if cl.extra != nil {
		f.exercised++
		f.violations = append(f.violations, cl.extra(r)...)
	}
	return f
}

func (cl *clause) violation(text string) history.Violation {
	return history.Violation{Guarantee: cl.name, Sentence: cl.sentence, Text: text}
}

// explain fills the row with the smallest program that shows the breach.
func (cl *clause) explain(row *Row, factory func() Subject, c *config, p program, found finding) {
	if !found.run.hung && !c.realTime {
		p, found = cl.shrink(factory, c, p, found)
	}
	v := found.violations[0]
	row.Status = Fail
	row.Text = fmt.Sprintf("%v [program %v]", v, p)
	if found.run.history == nil {
		return
	}
	var b strings.Builder
	if err := history.Report(&b, found.run.history, v, c.replay(cl)); err != nil {
		panic(err) // a strings.Builder does not fail
	}
	row.Report = b.String()
}

// replay is the line to paste.
func (c *config) replay(cl *clause) string {
	if c.t == nil {
		return fmt.Sprintf("exectest.Check(factory, exectest.Only(%q), exectest.Seed(%d))", cl.name, c.seed)
	}
	var parts []string
	for part := range strings.SplitSeq(c.t.Name(), "/") {
		parts = append(parts, "^"+part+"$")
	}
	return "go test -run '" + strings.Join(parts, "/") + "'"
}
