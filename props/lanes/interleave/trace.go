package interleave

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
	"eventide/props/interleave/protocol"
)

func newReplay(switches []inprocess.Switch) *inprocess.Strategy {
	st := inprocess.NewReplay(switches)
	st.Begin()
	return st
}

// Write prints a failure: the sentence, the program, the switches, the operations with
// their source lines in one column for each goroutine, and the line that replays it.
func (f *Found) Write(w io.Writer, replay string) {
	fmt.Fprintf(w, "%v\n\n", f.Violation)
	for _, v := range f.Others {
		fmt.Fprintf(w, "also     %v\n", v)
	}
	fmt.Fprintf(w, "program  %s, time %v, %v\n", f.Scenario.Name, f.Scenario.Time, f.Verdict)
	fmt.Fprint(w, f.Scenario.text())
	fmt.Fprintf(w, "schedule %d switches\n", len(f.Switches))
	for _, s := range f.Switches {
		fmt.Fprintf(w, "  %s  %s\n", switchText(s), s.Site)
	}
	if f.result != nil && len(f.result.Trace) > 0 {
		fmt.Fprintln(w, f.census())
	}
	f.historyText(w)
	f.columns(w)
	if replay != "" {
		fmt.Fprintf(w, "\nreplay   %s\n", replay)
	}
}

// switchText says what a switch does.
func switchText(s inprocess.Switch) string {
	at := fmt.Sprintf("at operation %d of g%d", s.N, s.G)
	switch s.Kind {
	case protocol.ToGoroutine:
		return fmt.Sprintf("g%d -> g%d %s", s.G, s.To, at)
	case protocol.ToClock:
		return "the clock moves " + at
	case protocol.ToCase:
		return fmt.Sprintf("a select takes its ready case %d %s", s.To, at)
	case protocol.ToTimer:
		return fmt.Sprintf("after move %d of the clock the due timers wait while a goroutine runs", s.N)
	}
	return s.String()
}

func (f *Found) historyText(w io.Writer) {
	h, err := history.Of(f.events, props.RulesIn(f.Scenario.lane(), f.Scenario.Program))
	if err != nil || len(f.events) == 0 {
		return
	}
	fmt.Fprintln(w, "\nhistory")
	_ = history.Columns(w, h, f.Violation.At...)
}

const columnWidth = 44

// columns writes the trace, one column per goroutine.
func (f *Found) columns(w io.Writer) {
	if f.result == nil || len(f.result.Trace) == 0 {
		return
	}
	src, names := newSources(), f.names()
	var order []int
	place := map[int]int{}
	for _, e := range f.result.Trace {
		if _, ok := place[e.G]; !ok && e.G != inprocess.Clock {
			place[e.G] = len(order)
			order = append(order, e.G)
		}
	}
	fmt.Fprint(w, "\ntrace\n     ")
	for _, g := range order {
		fmt.Fprintf(w, "%-*s", columnWidth, names[g])
	}
	fmt.Fprintln(w)
	last := -1
	for i, e := range f.result.Trace {
		text := fmt.Sprintf("%s  %s %s", opText(e), e.Site, src.line(e.Site))
		if e.G == inprocess.Clock {
			fmt.Fprintf(w, "%4d -- the clock moves to %v\n", i+1, e.At)
			continue
		}
		if last >= 0 && last != e.G {
			fmt.Fprintln(w)
		}
		last = e.G
		fmt.Fprintf(w, "%4d %s%s\n", i+1, strings.Repeat(" ", columnWidth*place[e.G]), clip(text, 2*columnWidth))
	}
}

// driverSuffix marks the goroutine that starts the actors and ends the executor.
const driverSuffix = " (driver)"

// names returns the headings of the columns: the names that the history has for the goroutines of
// the trace, such as g1 for the first actor of the program, and loop. The history and the trace
// number goroutines differently, so a goroutine of the trace has the name of the goroutine whose
// events most often follow its operations. A goroutine without events is named by its number.
func (f *Found) names() map[int]string {
	votes := map[int]map[string]int{}
	if marks := f.result.Marks; len(marks) == len(f.events) {
		if h, err := history.Of(f.events, props.RulesIn(f.Scenario.lane(), f.Scenario.Program)); err == nil {
			h.Name(f.Scenario.Program.NamesOf(f.goroutines))
			named := h.Goroutines()
			for i, e := range f.events {
				if marks[i] == 0 {
					continue
				}
				g := f.result.Trace[marks[i]-1].G
				if votes[g] == nil {
					votes[g] = map[string]int{}
				}
				votes[g][named[e.G]]++
			}
		}
	}
	names, taken := map[int]string{}, map[string]bool{}
	for _, e := range f.result.Trace {
		if names[e.G] != "" {
			continue
		}
		names[e.G] = fmt.Sprintf("goroutine %d", e.G)
		most := 0
		for _, name := range slices.Sorted(maps.Keys(votes[e.G])) {
			if n := votes[e.G][name]; n > most && !taken[name] {
				names[e.G], most = name, n
			}
		}
		taken[names[e.G]] = true
		if e.G == inprocess.Driver {
			names[e.G] += driverSuffix
		}
	}
	return names
}

// opText names the operation of an event.
func opText(e inprocess.Event) string {
	if e.Op == inprocess.Blocked {
		return e.Op + " in " + e.In
	}
	return e.Op
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n-1] + "…"
	}
	return s
}

// changedSources is the directory of the files of a planted bug. The build sets it,
// because the lines that run are then not those of the module.
var changedSources string

// sources finds lines of core's source by "core/admit.go:12", if it runs in the module.
type sources struct{ files map[string][]string }

func newSources() *sources { return &sources{map[string][]string{}} }

func (s *sources) line(site string) string {
	name, number, ok := strings.Cut(site, ":")
	if !ok {
		return ""
	}
	lines, known := s.files[name]
	if !known {
		for _, path := range sourcesOf(name) {
			if data, err := os.ReadFile(path); err == nil {
				lines = strings.Split(string(data), "\n")
				break
			}
		}
		s.files[name] = lines
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[n-1])
}

// sourcesOf returns the paths at which a file may be. The file that runs comes first.
func sourcesOf(name string) (paths []string) {
	if changedSources != "" {
		paths = append(paths, filepath.Join(changedSources, name+".txt"))
	}
	for _, root := range []string{".", "..", "../..", "../../.."} {
		for _, above := range []string{"", "core", "core/internal", "props"} { // a site has the last two elements of a path
			paths = append(paths, filepath.Join(root, above, name))
		}
	}
	return paths
}
