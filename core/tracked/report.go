package tracked

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"eventide/core"
)

// Function is a function that is running.
type Function struct {
	Name  string
	Began time.Time // when it was accepted
}

// Functions returns the running functions, the oldest first.
func (g *Group) Functions() []Function {
	g.init()
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []Function
	for _, f := range g.oldestFirst() {
		all = append(all, Function{f.name, f.began})
	}
	return all
}

// oldestFirst requires mu.
func (s *shared) oldestFirst() []*function {
	all := make([]*function, 0, len(s.running))
	for f := range s.running {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *function) int {
		return cmp.Or(a.began.Compare(b.began), cmp.Compare(a.name, b.name))
	})
	return all
}

// Running names the running functions, the oldest 100 with their start times and stacks, and
// counts the others by name. It returns "" if there are none. Of a process whose stacks have more
// than 4 MiB together some are missing. To read the stacks Running stops all
// goroutines, so call it only when you give up waiting. A process.Plan calls it when the exit
// ends and functions still run.
func (g *Group) Running() string {
	g.init()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stillRunning()
}

// mostNamed bounds the functions that Running lists alone, and the names that it counts: a log
// record of every stack of a busy group would have megabytes.
const mostNamed = 100

// nameless stands for the empty name.
const nameless = "a function without a name"

// stillRunning requires mu.
func (g *Group) stillRunning() string {
	if len(g.running) == 0 {
		return ""
	}
	var text strings.Builder
	stacks := stacksByGoroutine()
	all := g.oldestFirst()
	alone := min(len(all), mostNamed)
	for _, f := range all[:alone] {
		stack := cmp.Or(stacks[f.goroutine], "(it has not begun)")
		if f.goroutine != 0 && stacks[f.goroutine] == "" {
			stack = "(stack not found)"
		}
		fmt.Fprintf(&text, "%s runs since %s:\n%s\n", cmp.Or(f.name, nameless), f.began.Format(time.RFC3339Nano), stack)
	}
	text.WriteString(countNames(all[alone:]))
	return text.String()
}

// countNames returns a line with the number of functions of each name, the most frequent first,
// or "" for no functions.
func countNames(all []*function) string {
	if len(all) == 0 {
		return ""
	}
	counts := map[string]int{}
	for _, f := range all {
		counts[cmp.Or(f.name, nameless)]++
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names[:min(len(names), mostNamed)] {
		parts = append(parts, fmt.Sprintf("%d of %s", counts[name], name))
	}
	switch more := len(names) - len(parts); more {
	case 0:
	case 1:
		parts = append(parts, "1 other name")
	default:
		parts = append(parts, fmt.Sprintf("%d other names", more))
	}
	return fmt.Sprintf("and %d more: %s\n", len(all), strings.Join(parts, ", "))
}

// mostStacks bounds the dump of all stacks, in bytes.
const mostStacks = 4 << 20

// stacksByGoroutine returns the stack of each goroutine by its id. If the dump does not
// fit into mostStacks, some are missing. It stops all goroutines once: a dump that grows until
// all stacks fit would stop them several times.
func stacksByGoroutine() map[int64]string {
	dump := make([]byte, mostStacks)
	dump = dump[:runtime.Stack(dump, true)]
	stacks := map[int64]string{}
	for part := range bytes.SplitSeq(dump, []byte("\n\n")) {
		var id int64
		if _, err := fmt.Sscanf(string(part), "goroutine %d ", &id); err == nil {
			stacks[id] = string(part)
		}
	}
	return stacks
}

// progress returns the report before the end.
func (g *Group) progress() core.Report {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.report()
}

// report requires mu. A function counts as a task (G20).
func (g *Group) report() core.Report {
	s := &g.shutdown
	r := core.Report{
		Accepted: g.counts.accepted, Ran: g.counts.ran, Rejected: g.counts.rejected, Panicked: g.counts.panicked,
		TimedOut: s.timedOut, Running: s.stillRan, Quiet: s.quiet, Timeout: s.timeout,
	}
	if s.called {
		r.Elapsed = time.Since(s.calledAt)
	}
	return r
}

// Report returns Termination().Report(): the progress so far or, after Done, the sealed
// report.
func (g *Group) Report() core.Report {
	g.init()
	return g.term.Report()
}
