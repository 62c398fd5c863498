package interleave

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eventide/props/history"
	"eventide/props/interleave/inprocess"
)

// The measures of the timeline, in pixels.
const (
	rowHigh   = 18
	bandWide  = 110 // the state
	laneWide  = 330
	headHigh  = 30
	textAfter = 10 // from the dot of an event to its text
)

// stateColours are those of the band, from NotStarted to Terminated.
var stateColours = [...]string{"#e0e0e0", "#cfe8cf", "#fff0b3", "#ffd3a8", "#c9c9d9"}

// timeline draws a schedule as a page that needs nothing from elsewhere: a column for
// each goroutine, a row for each operation, an arrow from what changed an object to
// the next operation of another goroutine on it, and a band with the state.
type timeline struct {
	svg     strings.Builder
	trace   []inprocess.Event
	place   map[int]int // goroutine -> column
	order   []int
	src     *sources
	changed map[int]int // object -> row of its last change
}

// HTML renders the schedule. It must have a trace.
func (f *Found) HTML() []byte {
	t := &timeline{trace: f.result.Trace, place: map[int]int{}, src: newSources(), changed: map[int]int{}}
	for _, e := range t.trace {
		if _, ok := t.place[e.G]; !ok && e.G != inprocess.Clock {
			t.place[e.G] = len(t.order)
			t.order = append(t.order, e.G)
		}
	}
	t.lanes()
	t.band(f.events, f.result.Marks)
	for i, e := range t.trace {
		t.arrow(i, e)
	}
	for i, e := range t.trace {
		t.event(i, e)
	}
	var b bytes.Buffer
	title := "One schedule, of " + f.Scenario.Name + ": nothing broke"
	if f.Violation.Guarantee != "" {
		title = f.Violation.String()
	}
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Eventide: a schedule</title>\n"+
		"<style>body{font:14px sans-serif;margin:16px}svg text{font:11px monospace}pre{font:12px monospace}</style>\n<h1>%s</h1>\n", html.EscapeString(title))
	fmt.Fprintf(&b, "<p>%s, time %v, %v, %d switches. A row is one operation; the red arrows go from what changed an object to the next operation of another goroutine on it.</p>\n",
		html.EscapeString(f.Scenario.Name), f.Scenario.Time, f.Verdict, len(f.Switches))
	fmt.Fprintf(&b, "<pre>%s</pre>\n", html.EscapeString(f.Scenario.text()))
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n"+
		"<defs><marker id=\"head\" markerWidth=\"7\" markerHeight=\"6\" refX=\"6\" refY=\"3\" orient=\"auto\"><path d=\"M0,0 L7,3 L0,6 z\" fill=\"#b03030\"/></marker></defs>\n%s</svg>\n",
		bandWide+laneWide*len(t.order), t.y(len(t.trace)), t.svg.String())
	var log bytes.Buffer
	f.historyText(&log)
	fmt.Fprintf(&b, "<pre>%s</pre>\n</html>\n", html.EscapeString(log.String()))
	return b.Bytes()
}

func (t *timeline) x(g int) int   { return bandWide + laneWide*t.place[g] + 12 }
func (t *timeline) y(row int) int { return headHigh + rowHigh*row + rowHigh/2 }

func (t *timeline) lanes() {
	for _, g := range t.order {
		name := fmt.Sprintf("g%d", g)
		if g == inprocess.Driver {
			name += " (driver)"
		}
		fmt.Fprintf(&t.svg, "<text x=\"%d\" y=\"18\">%s</text><line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#bbb\"/>\n",
			t.x(g), name, t.x(g), headHigh, t.x(g), t.y(len(t.trace)))
	}
}

// band draws the states that the executor went through, by its own events: what
// core/state.go stores beside them is no state. Where there are no events, in groups and
// in programs without a Tracer, there is no band.
func (t *timeline) band(events []history.Event, marks []int) {
	if len(marks) != len(events) || len(events) == 0 {
		return
	}
	from, state := 0, history.NotStarted
	draw := func(to int) {
		if to == from {
			return
		}
		fmt.Fprintf(&t.svg, "<rect x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/><text x=\"4\" y=\"%d\">%v</text>\n",
			headHigh+rowHigh*from, bandWide-10, rowHigh*(to-from), stateColours[int(state)%len(stateColours)], headHigh+rowHigh*from+13, state)
	}
	for i, e := range events {
		if e.Kind == history.Transit {
			draw(marks[i])
			from, state = marks[i], e.To
		}
	}
	draw(len(t.trace))
}

func (t *timeline) arrow(i int, e inprocess.Event) {
	if e.Object == 0 || e.G == inprocess.Clock {
		return
	}
	if at, ok := t.changed[e.Object]; ok && t.trace[at].G != e.G {
		fmt.Fprintf(&t.svg, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#b03030\" stroke-opacity=\"0.6\" marker-end=\"url(#head)\"/>\n",
			t.x(t.trace[at].G), t.y(at), t.x(e.G), t.y(i))
	}
	if e.Write {
		t.changed[e.Object] = i
	}
}

func (t *timeline) event(i int, e inprocess.Event) {
	if e.G == inprocess.Clock {
		fmt.Fprintf(&t.svg, "<text x=\"%d\" y=\"%d\" fill=\"#888\">the clock moves to %v</text>\n", bandWide, t.y(i)+4, e.At)
		return
	}
	text := fmt.Sprintf("%s  %s", opText(e), e.Site)
	fmt.Fprintf(&t.svg, "<g><title>%s</title><circle cx=\"%d\" cy=\"%d\" r=\"3\"/><text x=\"%d\" y=\"%d\">%s</text></g>\n",
		html.EscapeString(t.src.line(e.Site)), t.x(e.G), t.y(i), t.x(e.G)+textAfter, t.y(i)+4, html.EscapeString(clip(text, 48)))
}

// writeTimeline writes the page, if one was asked for. A run whose verdict stands does
// not fail for it.
func (s settings) writeTimeline(f *Found) {
	if s.html == "" || f == nil || f.result == nil || len(f.result.Trace) == 0 {
		return
	}
	err := os.MkdirAll(filepath.Dir(s.html), 0o755)
	if err == nil {
		err = os.WriteFile(s.html, f.HTML(), 0o644)
	}
	if err != nil {
		fmt.Fprintln(s.err, "lane: the timeline could not be written:", err)
	}
}

// sample is one schedule of a small scenario: what a timeline shows if nothing broke.
func (e *exploration) sample() *Found {
	if e.html == "" {
		return nil
	}
	sc, err := find("execute|graceful(0,0)|warm")
	if err != nil {
		panic(err) // the name is a constant
	}
	st, err := newStrategy("pct3", e.seed)
	if err != nil || !st.Begin() {
		return nil
	}
	x := NewExplorer()
	x.Options = e.x.Options
	r, out := x.run(sc, st, true)
	return &Found{Scenario: sc, Switches: append([]inprocess.Switch(nil), r.Switches...), Verdict: r.Verdict, events: slices.Clone(out.Events), result: r}
}
