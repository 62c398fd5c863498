package exectest

import (
	"fmt"
	"slices"
)

// elsewhere keeps, for each guarantee, the first breach that a program or a hammer of
// another one showed. Its own programs show it better, so it counts only if they have
// found nothing when all have run.
type elsewhere struct {
	found []sighting
}

// sighting is such a breach.
type sighting struct {
	guarantee, sentence string
	text                string
	explain             func(*Row) // fills the row; it takes a while
}

// note keeps the sighting unless there is one of its guarantee.
func (e *elsewhere) note(s sighting) {
	if !e.has(s.guarantee) {
		e.found = append(e.found, s)
	}
}

// texts are those of the sightings, each on a line with the guarantee.
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

// settle puts the sightings into the rows of guarantees that have not failed, sorts the
// rows, and returns those that it has made fail.
func (e *elsewhere) settle(r *Result) (failed []Row) {
	for _, s := range e.found {
		at := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Guarantee == s.guarantee })
		if at < 0 { // -run left its subtest out, or the kit has no programs for it
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

// breaksOthers notes what else the run broke. A run counts for the first guarantee only,
// as what follows may come of it.
func (cl *clause) breaksOthers(factory func() Subject, c *config, p program, found finding) {
	if len(found.violations) == 0 {
		return
	}
	v := found.violations[0]
	own := c.outside(cl, v.Guarantee)
	c.others.note(sighting{v.Guarantee, v.Sentence, v.Text, func(row *Row) { cl.explain(row, factory, own, p, found) }})
}

// outside is the configuration for what is done when the clause's subtest is over, about
// another guarantee.
func (c *config) outside(cl *clause, guarantee string) *config {
	own := *c
	own.line = c.replay(cl, guarantee)
	own.t = c.root
	return &own
}

// madeFor says in a failure of the row's guarantee whose program or hammer this was.
func (cl *clause) madeFor(row *Row) string {
	if cl.name == row.Guarantee {
		return ""
	}
	return " of " + cl.name
}
