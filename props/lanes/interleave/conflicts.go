package interleave

import (
	"strings"

	"eventide/props/interleave/inprocess"
)

// Conflicts counts pairs of operations on one object by two goroutines, of which one
// changes the object: "core/a.go:1 unlock > core/b.go:2 lock" has the number of sampled
// schedules in which the second operation followed the first with no other operation on
// the object between them. A pair with 0 was not seen so: both operations were on one
// object, on two goroutines, but never in this order one right after the other. If
// something else orders them, no schedule shows the pair.
type Conflicts map[string]int

// visitor is an operation at a place: the first goroutine that made it, and whether
// others made it too.
type visitor struct {
	site, op string
	write    bool
	first    int
	others   bool
}

// visited is an object with the operations on it.
type visited struct {
	by   []visitor
	last *inprocess.Event // nil: there was none
}

// add enters a traced schedule.
func (c Conflicts) add(trace []inprocess.Event) {
	var objects []visited // by number
	hit := map[string]bool{}
	for i := range trace {
		e := &trace[i]
		if e.Object == 0 || e.Op == inprocess.Blocked || !strings.HasPrefix(e.Site, "core/") {
			continue
		}
		for len(objects) <= e.Object {
			objects = append(objects, visited{})
		}
		o := &objects[e.Object]
		if p := o.last; p != nil && p.G != e.G && meet(p.Op, e.Op, p.Write, e.Write) {
			hit[pair(p.Site, p.Op, e.Site, e.Op)] = true
		}
		o.last = e
		o.visit(e)
	}
	for _, o := range objects {
		for _, a := range o.by {
			for _, b := range o.by {
				if (a.first != b.first || a.others || b.others) && meet(a.op, b.op, a.write, b.write) {
					c[pair(a.site, a.op, b.site, b.op)] += 0
				}
			}
		}
	}
	for name := range hit {
		c[name]++
	}
}

// pair is the key of Conflicts for two operations at their places.
func pair(site, op, nextSite, nextOp string) string {
	return site + " " + op + " > " + nextSite + " " + nextOp
}

func (o *visited) visit(e *inprocess.Event) {
	for i := range o.by {
		if v := &o.by[i]; v.site == e.Site && v.op == e.Op {
			v.others = v.others || v.first != e.G
			v.write = v.write || e.Write
			return
		}
	}
	o.by = append(o.by, visitor{site: e.Site, op: e.Op, write: e.Write, first: e.G})
}

// meet reports whether b may follow a at once, on another goroutine, and their order
// matters. For locks these are an unlock and the next lock.
func meet(a, b string, aWrites, bWrites bool) bool {
	locks := b == "lock" || b == "wlock" || b == "trylock"
	switch a {
	case "lock", "wlock", "rlock":
		return false
	case "unlock":
		return locks || b == "rlock" || b == "tryrlock"
	case "runlock":
		return locks
	}
	return (aWrites || bWrites) && b != "unlock" && b != "runlock"
}
