package exectest

import (
	"fmt"
	"slices"
)

// elsewhere keeps, for each guarantee, the first breach in a run that was made for
// another guarantee. The guarantee's own programs show a breach better, so it counts only
// if they find nothing.
type elsewhere struct {
	found []sighting
}

// sighting is a breach in a run that was made for another guarantee.
type sighting struct {
	guarantee, sentence string
	text                string
	explain             func(*Row) // fills the row; slow
}

// add keeps the sighting, unless there is one of the same guarantee.
func (e *elsewhere) add(s sighting) {
	if !e.has(s.guarantee) {
		e.found = append(e.found, s)
	}
}

// texts returns one line for each sighting, with the guarantee.
func (e *elsewhere) texts() []string {
	var texts []string
	for _, s := range e.found {
		texts = append(texts, fmt.Sprintf("%s %s: %s", s.guarantee, s.sentence, s.text))
	}
	return texts
}

func (e *elsewhere) has(guarantee string) bool {
	return slices.ContainsFunc(e.found, func(s sighting) bool { return s.guarantee == guarantee })
}

// report puts the sightings into the rows of guarantees that have not failed, sorts the
// rows, and returns the rows that now fail.
func (e *elsewhere) report(r *Result) (failed []Row) {
	for _, s := range e.found {
		at := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Guarantee == s.guarantee })
		if at < 0 { // -run has left out its subtest, or the kit has no programs for it
			at = len(r.Rows)
			r.Rows = append(r.Rows, Row{Guarantee: s.guarantee, Sentence: s.sentence})
		}
		if row := &r.Rows[at]; row.Status != Fail {
			s.explain(row)
			failed = append(failed, *row)
		}
	}
	e.found = nil
	r.sort()
	return failed
}

// breaksOthers adds a sighting of the first guarantee that the run broke. Other breaches
// in the same run may follow from the first.
func (cl *clause) breaksOthers(factory func() Subject, c *config, p program, found finding) {
	if len(found.violations) == 0 {
		return
	}
	v := found.violations[0]
	own := c.outside(cl, v.Guarantee)
	c.others.add(sighting{v.Guarantee, v.Sentence, v.Text, func(row *Row) { cl.explain(row, factory, own, p, found) }})
}

// outside returns the configuration for work on another guarantee, after the clause's
// subtest has ended.
func (c *config) outside(cl *clause, guarantee string) *config {
	own := *c
	own.line = c.replay(cl, guarantee)
	own.t = c.root
	return &own
}

// madeFor names, in the failure text of another guarantee, the clause that the program
// or hammer was made for. It is "" in a failure of the clause itself.
func (cl *clause) madeFor(row *Row) string {
	if cl.name == row.Guarantee {
		return ""
	}
	return " of " + cl.name
}
