package interleave

import (
	"strings"

	"eventide/props/lanes/interleave/det"
)

// Conflicts are the pairs of places in core at which two goroutines met at an object
// that one of them changed: "core/a.go:1 unlock > core/b.go:2 lock" counts the sampled
// schedules in which the second followed the first at once, with nobody at the object
// between them. A pair with 0 could have: both places were at one object, on two
// goroutines. It may be that something else orders them, and that no schedule will.
type Conflicts map[string]int

// visitor is one operation at a place, and who made it: enough of them to know if two
// different goroutines did.
type visitor struct {
	name   string
	op     det.Op
	write  bool
	first  int
	others bool
}

// add enters a traced schedule.
func (c Conflicts) add(trace []det.Event) {
	objects := map[int][]visitor{}
	last := map[int]det.Event{}
	hit := map[[2]string]bool{}
	for _, e := range trace {
		if e.Obj == 0 || e.Op == det.OpWaited || !strings.HasPrefix(e.Site, "core/") {
			continue
		}
		if p, ok := last[e.Obj]; ok && p.G != e.G && meet(p.Op, e.Op, p.Write, e.Write) {
			hit[[2]string{place(p), place(e)}] = true
		}
		last[e.Obj] = e
		objects[e.Obj] = visit(objects[e.Obj], e)
	}
	for _, at := range objects {
		for _, a := range at {
			for _, b := range at {
				if (a.first != b.first || a.others || b.others) && meet(a.op, b.op, a.write, b.write) {
					c[a.name+" > "+b.name] += 0
				}
			}
		}
	}
	for pair := range hit {
		c[pair[0]+" > "+pair[1]]++
	}
}

func place(e det.Event) string { return e.Site + " " + e.Op.String() }

func visit(at []visitor, e det.Event) []visitor {
	name := place(e)
	for i := range at {
		if v := &at[i]; v.name == name {
			v.others = v.others || v.first != e.G
			v.write = v.write || e.Write
			return at
		}
	}
	return append(at, visitor{name: name, op: e.Op, write: e.Write, first: e.G})
}

// meet reports whether b may follow a at once, on another goroutine, and their order
// matters. Of locks, that is who unlocks and who locks next.
func meet(a, b det.Op, aWrites, bWrites bool) bool {
	switch a {
	case det.OpLock, det.OpRLock:
		return false
	case det.OpUnlock, det.OpRUnlock:
		return b == det.OpLock || b == det.OpTryLock || b == det.OpRLock && a == det.OpUnlock
	}
	return (aWrites || bWrites) && b != det.OpUnlock && b != det.OpRUnlock
}
