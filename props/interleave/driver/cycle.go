package driver

import (
	"cmp"
	"fmt"
	"strings"

	"eventide/props/interleave/protocol"
)

// waits returns a line for each goroutine that waits for ever: where and for what it
// waits, and which goroutine holds that object. If there is a cycle, the first line
// names it.
func (t *timeline) waits(f *finding, p *pkg) []string {
	holder := map[uint64]uint64{}
	waiting := map[uint64]protocol.Goroutine{}
	for _, g := range f.Goroutines {
		if g.Old {
			continue // of an earlier schedule, and numbered as in that schedule
		}
		for _, obj := range g.Holds {
			holder[obj] = g.Number
		}
		if g.State != "running" && g.State != "ready" {
			waiting[g.Number] = g
		}
	}
	cycle := findCycle(waiting, holder)
	var lines []string
	if len(cycle) > 0 {
		var names []string
		for _, g := range cycle {
			names = append(names, fmt.Sprintf("g%d", g))
		}
		lines = append(lines, "cycle: "+strings.Join(append(names, names[0]), " waits for "))
	}
	for _, g := range f.Goroutines {
		if _, ok := waiting[g.Number]; ok && !g.Old && firstFrame(g.Stack, p) != "" {
			lines = append(lines, t.wait(g, holder, p))
		}
	}
	return lines
}

func (t *timeline) wait(g protocol.Goroutine, holder map[uint64]uint64, p *pkg) string {
	var b strings.Builder
	fmt.Fprintf(&b, "g%d", g.Number)
	if name := t.laneName(g.Number); name != "" {
		fmt.Fprintf(&b, " (%s)", name)
	}
	if len(g.Holds) > 0 {
		var names []string
		for _, obj := range g.Holds {
			names = append(names, t.object(obj))
		}
		fmt.Fprintf(&b, " holds %s and", strings.Join(names, ", "))
	}
	if object, op := t.waitsFor(g); object != "" {
		fmt.Fprintf(&b, " waits for %s (%s)", object, op)
	} else {
		fmt.Fprintf(&b, " waits: %s", g.State)
	}
	if at := firstFrame(g.Stack, p); at != "" {
		fmt.Fprintf(&b, " at %s", at)
	}
	if g.State == condWait {
		return b.String() // its object is the mutex that Wait has unlocked
	}
	if h, ok := holder[g.Object]; ok && g.Object != 0 && h != g.Number {
		fmt.Fprintf(&b, ", which g%d holds", h)
	} else if ok && g.Object != 0 {
		b.WriteString(", which it holds itself")
	}
	return b.String()
}

// condWait is the state of a goroutine that waits in Cond.Wait. Its last operation is the
// Unlock there.
const condWait = "sync.Cond.Wait"

// waitsFor names the object that a goroutine waits for, and the operation; "" if neither
// is known.
func (t *timeline) waitsFor(g protocol.Goroutine) (object, op string) {
	switch {
	case g.State == condWait:
		object = "a sync.Cond"
		if file, line, ok := firstPlace(g.Stack); ok {
			object = cmp.Or(objectName("wait", t.lines.at(file, line)), object)
		}
		return object, "Cond.Wait"
	case g.Object != 0 && g.Op != "":
		return t.object(g.Object), g.Op
	}
	return "", ""
}

func (t *timeline) laneName(g uint64) string {
	for _, l := range t.lanes {
		if l.number == g {
			return l.name
		}
	}
	return ""
}

// findCycle returns a cycle of goroutines: each waits for a lock that the next one
// holds, and the last one waits for a lock of the first. It returns nil if there is no
// cycle.
func findCycle(waiting map[uint64]protocol.Goroutine, holder map[uint64]uint64) []uint64 {
	for start := range waiting {
		path := []uint64{}
		seen := map[uint64]int{}
		for at := start; ; {
			if i, ok := seen[at]; ok {
				return smallestFirst(path[i:])
			}
			g, ok := waiting[at]
			if !ok || g.Object == 0 {
				break
			}
			seen[at] = len(path)
			path = append(path, at)
			if at, ok = holder[g.Object]; !ok {
				break
			}
		}
	}
	return nil
}

// smallestFirst turns a cycle so that it does not depend on where it was entered.
func smallestFirst(cycle []uint64) []uint64 {
	least := 0
	for i, g := range cycle {
		if g < cycle[least] {
			least = i
		}
	}
	return append(append([]uint64{}, cycle[least:]...), cycle[:least]...)
}
