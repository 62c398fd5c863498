package netty

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Trace is the observation of one run. Its text has three parts:
//
//	1+ 4+ 5+ | >1 2=0 >3 | s3=ok end=3
//
// The first part has the answers to the goroutine outside. The second has the events on
// the loop: a body that begins (>label), the answers to bodies, and calls of listeners
// (L, in any order). The third has the final status of every timer and future, and the
// state.
//
// An answer is + accepted or done, - refused or not done, ! refused as a mistake of the
// caller, ~ only after the whole time of the wait, =n the state: 0 before a shutdown, 1
// shutting down, 2 shut down, 3 terminated. A ? says that a body found itself outside of
// the loop.
type Trace struct {
	Outer, Loop, End []string
}

// String returns the text.
func (t Trace) String() string {
	parts := [][]string{t.Outer, t.Loop, t.End}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = strings.Join(p, " ")
	}
	return strings.Join(texts, " | ")
}

// ParseTrace parses a text.
func ParseTrace(text string) (Trace, error) {
	parts := strings.Split(text, "|")
	if len(parts) != 3 {
		return Trace{}, fmt.Errorf("netty: trace %q has %d parts, want 3", text, len(parts))
	}
	return Trace{strings.Fields(parts[0]), strings.Fields(parts[1]), strings.Fields(parts[2])}, nil
}

func token(label int, answer string) string { return strconv.Itoa(label) + answer }
func begins(label int) string               { return ">" + strconv.Itoa(label) }
func listener(label int) string             { return "L" + strconv.Itoa(label) }

// outcome is the part of a trace that must be equal in two runs of a program: all that
// Netty or Eventide promises. The order of a task and a timer that are both ready is not
// promised, nor is the time of a listener's call.
type outcome struct {
	Outer   string
	Tasks   string         // in the order in which they began
	Timers  string         // runs
	Hooks   string         // hooks added before the shutdown call, each with the number of tasks begun before it
	Late    string         // hooks added later
	Tails   string         //
	Answers map[int]string // by label of the call
	Heard   string         // listeners called, sorted
	End     string
}

// outcomeOf extracts the outcome of a trace. early are the hooks that were added before
// the shutdown call.
func outcomeOf(p *Program, t Trace, early map[int]bool) outcome {
	o := outcome{Outer: strings.Join(t.Outer, " "), End: strings.Join(t.End, " "), Answers: map[int]string{}}
	all := p.byLabel()
	var heard []string
	tasks := 0
	for _, tok := range t.Loop {
		switch tok[0] {
		case 'L':
			heard = append(heard, tok)
			continue
		case '>':
			label, _ := strconv.Atoi(strings.TrimRight(tok[1:], "?"))
			s := all[label]
			if s == nil {
				o.Tasks += " unknown" + tok
				continue
			}
			switch {
			case isTask(s.Op):
				o.Tasks += tok
				tasks++
			case isTimer(s.Op):
				o.Timers += tok
			case s.Op == opHook && early[label]:
				o.Hooks += fmt.Sprintf("%s@%d", tok, tasks)
			case s.Op == opHook:
				o.Late += tok
			default:
				o.Tails += tok
			}
		default:
			i := strings.IndexAny(tok, "+-!~=?")
			if i < 0 {
				o.Tasks += " unreadable:" + tok
				continue
			}
			label, _ := strconv.Atoi(tok[:i])
			o.Answers[label] += tok[i:]
		}
	}
	slices.Sort(heard)
	o.Heard = strings.Join(heard, " ")
	return o
}

// differences returns the differences of two outcomes as texts.
func (o outcome) differences(of string, other outcome, than string) []string {
	var d []string
	add := func(what, a, b string) {
		if a != b {
			d = append(d, fmt.Sprintf("%s: %s %q, %s %q", what, of, a, than, b))
		}
	}
	add("answers outside", o.Outer, other.Outer)
	add("tasks", o.Tasks, other.Tasks)
	add("timers", o.Timers, other.Timers)
	add("hooks", o.Hooks, other.Hooks)
	add("late hooks", o.Late, other.Late)
	add("tail tasks", o.Tails, other.Tails)
	add("listeners", o.Heard, other.Heard)
	add("end", o.End, other.End)
	labels := map[int]bool{}
	for l := range o.Answers {
		labels[l] = true
	}
	for l := range other.Answers {
		labels[l] = true
	}
	var sorted []int
	for l := range labels {
		sorted = append(sorted, l)
	}
	slices.Sort(sorted)
	for _, l := range sorted {
		add(fmt.Sprintf("answer of %d", l), o.Answers[l], other.Answers[l])
	}
	return d
}
