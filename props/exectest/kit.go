package exectest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eventide/internal/contract"
	"eventide/props/history"
	"eventide/props/interleave/control"
)

// clause describes how the kit checks one guarantee.
type clause struct {
	name       string   // of the guarantee
	predicates []string // the predicates whose premise its programs are made for
	needs      []string // interfaces that it needs
	virtual    bool     // it can be checked only in virtual time
	exact      bool     // with virtual: not under chosen schedules either, where operations take time
	rounds     int
	program    func(rng *rand.Rand, round int) program // the program of one round, from 0
	whole      func(rng *rand.Rand, round int) program // in virtual time, the program of every second round
	hammering  hammering                               // runs without the log, after the programs
	wakers     int                                     // runs that search for lost wake-ups, unless Rounds is given
	tasks      int                                     // of one long run, unless Rounds is given
	extra      func(run) []history.Violation           // judges what the log does not show
	also       func(run) []history.Violation           // like extra, but does not count as exercise of the guarantee
	counts     bool                                    // count the goroutines of its runs exactly
	control    func() program                          // a program that must end; otherwise the clause is inconclusive
	abrupt     bool                                    // bodies panic, which may end the process
	mayLack    bool                                    // simple executors may not promise it
}

// Check checks the executor against every guarantee and returns the result. The factory
// makes a fresh executor for each program; in virtual time the kit calls it inside the
// bubble. Every run is judged by every guarantee. At the first breach Check stops the
// programs of that guarantee and looks for a smaller program with the same breach. It
// panics if an option is not valid, if the factory is nil or returns nil, or if Shutdown of
// the first subject returns an error: nothing can be judged of a subject that does not end.
func Check(factory func() Subject, opts ...Option) Result {
	if control.Chosen() {
		r, err := underChosen(factory, opts)
		if err != nil {
			panic(err)
		}
		return r
	}
	c, err := configure(factory, opts)
	if err != nil {
		panic(err)
	}
	if control.Plain() {
		return Result{}
	}
	var r Result
	for _, cl := range c.plan() {
		own := c // an abandoned run may still read it
		row := cl.check(factory, &own)
		r.Rows = append(r.Rows, row)
		c.remember(row)
	}
	c.others.report(&r)
	return r
}

// Run checks the executor like Check, in one subtest per guarantee. It skips the subtest
// of a guarantee that is not supported or inconclusive. If only the programs of another
// guarantee show a breach, the test itself fails, after the subtests. Run returns the
// result for printing. Where Check panics, Run fails the test at once.
func Run(t *testing.T, factory func() Subject, opts ...Option) Result {
	t.Helper()
	if control.Chosen() {
		return runChosen(t, factory, opts)
	}
	c, err := configure(factory, append(opts[:len(opts):len(opts)], func(c *config) { c.t, c.root = t, t }))
	if err != nil {
		t.Fatal(err)
	}
	if control.Plain() {
		return Result{} // configure has called the factory
	}
	var r Result
	for _, cl := range c.plan() {
		t.Run(cl.name, func(t *testing.T) {
			t.Helper()
			own := c
			own.t = t
			row := cl.check(factory, &own)
			r.Rows = append(r.Rows, row)
			c.remember(row) // inside the subtest, which -run may leave out
			row.tell(t, &own)
		})
	}
	for _, row := range c.others.report(&r) {
		row.tell(t, &c)
	}
	return r
}

// plan returns the clauses to check, in order. Clauses whose bodies panic come last,
// because they kill an executor that does not recover, and G14, which checks exactly that,
// comes at the very end.
func (c *config) plan() []*clause {
	var plan, abrupt []*clause
	var last []*clause
	for i := range clauses {
		cl := &clauses[i]
		switch {
		case len(c.only) > 0 && !slices.Contains(c.only, cl.name):
		case cl.name == "G14":
			last = append(last, cl)
		case cl.abrupt:
			abrupt = append(abrupt, cl)
		default:
			plan = append(plan, cl)
		}
	}
	return slices.Concat(plan, abrupt, last)
}

// remember keeps the failure texts for plantedPanic.
func (c *config) remember(row Row) {
	if row.Status == Fail {
		c.failures = append(c.failures, row.Text)
	}
}

// supported reports whether the clause can be checked, and otherwise the reason.
func (cl *clause) supported(c *config) (ok bool, why string) {
	if reason, declared := c.without[cl.name]; declared {
		return false, reason
	}
	if cl.virtual && c.realTime && (cl.exact || !c.chosen) {
		return false, "real time cannot tell"
	}
	for _, name := range cl.needs {
		if c.lacks[name] {
			return false, name
		}
	}
	return true, ""
}

func (cl *clause) check(factory func() Subject, c *config) Row {
	row := Row{Guarantee: cl.name, Sentence: contract.Sentence(cl.name)}
	c.line = c.replay(cl, cl.name)
	c.failures = slices.Concat(c.failures, c.others.texts())
	if ok, why := cl.supported(c); !ok {
		row.Status, row.Text = NotSupported, why
		return row
	}
	if cl.name == "G14" && c.panicsEscape {
		row.Status, row.Text = Fail, "G14 a panic in a task kills the process (declared, not tried)"
		row.cause, row.line = row.Text, c.line
		row.Report = fmt.Sprintf("%s\n\nreplay  %s\n%s", row.Text, c.line, inWords(cl.name))
		return row
	}
	if cl.control != nil && !execute(factory, cl.control(), c, false).done {
		row.Text = "the executor does not terminate even after one task and a shutdown"
		return row
	}
	cl.programs(&row, factory, c)
	if row.Status != Fail {
		cl.hammer(&row, factory, c)
	}
	switch {
	case row.Status == Fail:
	case row.Exercised > 0:
		row.Status = Pass
	default:
		row.Text = "its premise did not occur in any run"
	}
	return row
}

// programs runs the clause's programs until one breaks it, and then fills the row.
func (cl *clause) programs(row *Row, factory func() Subject, c *config) {
	for i := range cl.howMany(c) {
		p := cl.generate(c, i)
		row.Programs++
		found := cl.judge(c, execute(factory, p, c, cl.counts))
		row.Exercised += found.exercised
		if found.breaks(cl.name) {
			cl.explain(row, factory, c, p, found)
			return
		}
		cl.breaksOthers(factory, c, p, found)
	}
}

// generate makes the program of one round. It also draws the order of the actors. They
// start in that order, and the last one to start runs first, so a shutdown that was
// always the last actor would always run first.
func (cl *clause) generate(c *config, round int) program {
	rng := rand.New(rand.NewPCG(c.seed, uint64(round)))
	p := cl.draw(rng, round, c.realTime)
	rng.Shuffle(len(p.actors), func(i, j int) { p.actors[i], p.actors[j] = p.actors[j], p.actors[i] })
	if _, declared := c.without["G14"]; cl.abrupt && (declared || c.panicsEscape) {
		p.each(func(s *step) { s.body.ends = history.Normal })
	}
	return p
}

func (cl *clause) draw(rng *rand.Rand, round int, realTime bool) program {
	switch {
	case cl.whole == nil || realTime:
		return cl.program(rng, round)
	case round%2 == 0:
		return cl.program(rng, round/2)
	default:
		return cl.whole(rng, round/2)
	}
}

// inWords returns the end of a failure text: the guarantee in words and, if a simple
// executor may not promise it, how to declare that.
func inWords(guarantee string) string {
	text := fmt.Sprintf("\n%s: %s.\n", guarantee, contract.Sentence(guarantee))
	if cl := clauseOf(guarantee); cl != nil && cl.mayLack {
		text += fmt.Sprintf("not promised? exectest.Without(%q, \"why\")\n", guarantee)
	}
	return text
}

// howMany returns the number of rounds: fewer in real time, where a round takes long.
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

// explain fills the row with the smallest program of the clause that breaks the guarantee
// of the row, which may differ from the guarantee of the clause.
func (cl *clause) explain(row *Row, factory func() Subject, c *config, p program, found finding) {
	if !found.run.hung && !c.realTime {
		p, found = cl.shrink(row.Guarantee, factory, c, p, found)
	}
	v := found.against(row.Guarantee)[0]
	row.Status, row.cause, row.line = Fail, v.Cause(), c.line
	row.Text = fmt.Sprintf("%v [program%s %v]", v, cl.madeFor(row), p)
	if found.run.history == nil {
		row.Report = fmt.Sprintf("%s\n\nreplay  %s\n%s", row.Text, c.line, inWords(row.Guarantee))
		return
	}
	var b strings.Builder
	if err := history.Report(&b, found.run.history, v, c.line); err != nil {
		panic(err) // a strings.Builder does not fail
	}
	for _, other := range found.violations {
		if other.Guarantee != row.Guarantee {
			fmt.Fprintf(&b, "also    %v\n", other)
		}
	}
	row.Report = b.String() + inWords(row.Guarantee)
}
