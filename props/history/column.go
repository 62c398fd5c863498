package history

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Columns writes the events as a table with one column per goroutine, loops first. An arrow
// marks the given positions.
func Columns(w io.Writer, h *History, marked ...int) error {
	names := h.Goroutines()
	order := sortedNames(names)
	wide := columnWidths(h, names, order)
	var b strings.Builder
	fmt.Fprintf(&b, "%6s  %10s  ", "#", "at")
	for i, n := range order {
		fmt.Fprintf(&b, "%-*s", wide[i], n)
	}
	if err := writeTrimmed(w, b.String()); err != nil {
		return err
	}
	for i := range h.Events {
		e := &h.Events[i]
		b.Reset()
		mark := " "
		if slices.Contains(marked, e.N) {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s%5d  %10v  ", mark, e.N, e.At)
		for k, n := range order {
			cell := ""
			if names[e.G] == n {
				cell = h.cell(e)
			}
			fmt.Fprintf(&b, "%-*s", wide[k], cell)
		}
		if err := writeTrimmed(w, b.String()); err != nil {
			return err
		}
	}
	return nil
}

func writeTrimmed(w io.Writer, line string) error {
	_, err := fmt.Fprintln(w, strings.TrimRight(line, " "))
	return err
}

// Goroutines names the goroutines of the log. A goroutine that Name does not name is called loop,
// loop2, ... if it ran bodies and made no call outside of a body, and otherwise g1, g2, ..., in
// the order of appearance.
func (h *History) Goroutines() map[int64]string {
	outside := map[int64]bool{}
	for _, c := range h.calls {
		if c.within == nil {
			outside[c.inv.G] = true
		}
	}
	names, used := map[int64]string{}, map[string]bool{}
	for _, name := range h.named {
		used[name] = true
	}
	next := func(from *int64, step int64) string {
		for {
			*from += step
			if name := goroutine(*from); !used[name] {
				return name
			}
		}
	}
	loops, others := int64(0), int64(0)
	for i := range h.Events {
		switch g := h.Events[i].G; {
		case names[g] != "":
		case h.named[g] != "":
			names[g] = h.named[g]
		case g < 0 || h.loops[g] && !outside[g]:
			names[g] = next(&loops, -1)
		default:
			names[g] = next(&others, 1)
		}
	}
	return names
}

// sortedNames puts loops before the others, each by number.
func sortedNames(names map[int64]string) []string {
	return slices.SortedFunc(maps.Values(names), func(a, b string) int {
		return cmp.Or(
			-strings.Compare(a[:1], b[:1]), // l before g
			cmp.Compare(len(a), len(b)),
			strings.Compare(a, b),
		)
	})
}

// columnGap is the space between two columns.
const columnGap = 2

func columnWidths(h *History, names map[int64]string, order []string) []int {
	wide := make([]int, len(order))
	for k, n := range order {
		wide[k] = len(n)
	}
	for i := range h.Events {
		e := &h.Events[i]
		k := slices.Index(order, names[e.G])
		wide[k] = max(wide[k], len(h.cell(e)))
	}
	for k := range wide {
		wide[k] += columnGap
	}
	return wide
}

// cell returns the text of an event in its column. A call and its answer take two lines.
func (h *History) cell(e *Event) string {
	switch e.Kind {
	case Invoke:
		return h.callAt(e.N).inv.callText()
	case Return:
		return "  " + h.callAt(e.Call).inv.callText() + " -> " + e.answerText()
	default:
		words := e.words()[1:]
		return strings.Join(words, " ")
	}
}

// callText returns a call as in Go source: schedule(3, delay=5ms).
func (e *Event) callText() string {
	var args []string
	if e.ID != 0 {
		args = append(args, number(e.ID))
	}
	named := func(name string, d time.Duration) { args = append(args, name+"="+until(d)) }
	switch {
	case e.Op.Timers():
		named("delay", e.Delay)
		if e.Op != OpSchedule {
			named("period", e.Period)
		}
	case e.Op == OpReset:
		named("delay", e.Delay)
	case e.Op == OpShutdownGracefully:
		named("quiet", e.Quiet)
		named("timeout", e.Timeout)
	}
	return e.Op.String() + "(" + strings.Join(args, ", ") + ")"
}

func (e *Event) answerText() string {
	switch {
	case e.Op == OpState:
		return e.To.String()
	case e.Stats != nil:
		return strings.Join(e.words()[3:], " ")
	default:
		return e.Outcome.String()
	}
}
