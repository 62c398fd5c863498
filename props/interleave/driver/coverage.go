package driver

import (
	"fmt"
	"math"
	"strings"
	"time"

	"eventide/props/interleave/protocol"
)

// A coverage adds up the counts of a search's processes. The coverages of shards add up
// to that of one search, except for classes and pairs: each process counts its own, so
// the largest count is a lower bound.
type coverage struct {
	Schedules, Steps, Decisions uint64
	Classes                     uint64
	Singles, Most               uint64 // classes that one schedule had, and schedules, of the process with most schedules
	Pairs                       uint64
	PCT                         [4]uint64 // sums of chances, as in protocol.Counts
	Bound                       uint64
	Complete                    bool
	Rescued, Raw, Cgo, Sockets  uint64
	Faults                      uint64
	Children, Signals, GC       uint64
	Processes                   uint64
	Outside                     map[string]protocol.Outside // first of each kind
	TooLarge, Horizon           uint64
	Undecided                   uint64
	Needed                      uint64 // operations of the largest schedule that was too large
	Waited                      string // what an undecided schedule waited for
}

// inconclusive counts a schedule that shows nothing.
func (c *coverage) inconclusive(f *finding) {
	c.Undecided++
	switch f.Verdict {
	case verdictOutside:
		c.Waited = f.Message
	case protocol.TooLarge:
		c.TooLarge++
		c.Needed = max(c.Needed, f.Steps)
	case protocol.Horizon:
		c.Horizon++
	}
}

// add counts a process.
func (c *coverage) add(e *ending, p *process) {
	n := e.counts
	one := coverage{Schedules: n.Schedules, Steps: n.Steps, Decisions: n.Decisions, Classes: n.Classes, Singles: n.Singles, Most: n.Schedules,
		Pairs: n.Pairs, PCT: n.PCT, Bound: n.Bound, Complete: n.Complete, Rescued: n.Rescued, Faults: n.Faults, Raw: n.Raw, Cgo: n.Cgo, Sockets: n.Sockets,
		Children: n.Children, Signals: n.Signals, GC: n.GC, Processes: 1, Outside: map[string]protocol.Outside{}}
	if e.finding != nil && !e.finding.Warm && !e.summary {
		one.Schedules++ // the last one did not end
	}
	if e.finding != nil && !e.finding.Warm {
		one.Most = max(one.Most, min((e.finding.Number-p.request.First)/max(p.request.Stride, 1)+1, p.count))
	}
	for _, o := range e.outside {
		if _, ok := one.Outside[o.Kind]; !ok {
			one.Outside[o.Kind] = o
		}
	}
	c.merge(&one)
}

// merge adds the coverage of other processes.
func (c *coverage) merge(d *coverage) {
	c.Schedules += d.Schedules
	c.Steps += d.Steps
	c.Decisions += d.Decisions
	c.Classes = max(c.Classes, d.Classes)
	if d.Most >= c.Most {
		c.Most, c.Singles = d.Most, d.Singles
	}
	c.Pairs = max(c.Pairs, d.Pairs)
	for i := range c.PCT {
		c.PCT[i] += d.PCT[i]
	}
	c.Bound = max(c.Bound, d.Bound)
	c.Complete = c.Complete || d.Complete
	c.Rescued += d.Rescued
	c.Faults += d.Faults
	c.Raw += d.Raw
	c.Cgo += d.Cgo
	c.Sockets += d.Sockets
	c.Children += d.Children
	c.Signals += d.Signals
	c.GC += d.GC
	c.Processes += d.Processes
	c.TooLarge += d.TooLarge
	c.Horizon += d.Horizon
	c.Undecided += d.Undecided
	c.Needed = max(c.Needed, d.Needed)
	if c.Waited == "" {
		c.Waited = d.Waited
	}
	if c.Outside == nil {
		c.Outside = map[string]protocol.Outside{}
	}
	for kind, o := range d.Outside {
		if _, ok := c.Outside[kind]; !ok {
			c.Outside[kind] = o
		}
	}
}

// unseen estimates the chance that the next schedule has a new class (Good and Turing).
func (c *coverage) unseen() float64 {
	if c.Most == 0 {
		return 1
	}
	return float64(c.Singles) / float64(c.Most)
}

// granted is a lower bound of the chance that the schedules of PCT would have shown a
// bug of the depth, if there is one: 1 - e^-s, where s is the sum of the chances of the
// schedules.
func (c *coverage) granted(depth int) float64 {
	return -math.Expm1(-float64(c.PCT[depth-2]) / protocol.PCTUnit)
}

// lines say how much was covered. They are printed with -v and after a failure.
func (c *coverage) lines(s *search) []string {
	least := ""
	if c.Processes > 1 {
		least = "at least "
	}
	text := fmt.Sprintf("%s in %v, %s%s", plural(int(c.Schedules), "schedule", "schedules"), s.spent.Round(time.Millisecond),
		least, plural(int(c.Classes), "class", "classes"))
	if c.Most > 1 && s.opts.Exhaust < 0 {
		text += fmt.Sprintf("; chance that the next schedule has a new class: %.2g", c.unseen())
		if c.Most < c.Schedules {
			text += fmt.Sprintf(" after %s", plural(int(c.Most), "schedule", "schedules"))
		}
	}
	if c.Pairs > 0 {
		text += fmt.Sprintf("; %s%s of conflicting operations", least, plural(int(c.Pairs), "pair", "pairs"))
	}
	switch {
	case c.Complete:
		text += "; complete: there are no other schedules"
	case c.Bound > 0:
		text += fmt.Sprintf("; complete up to %s", plural(int(c.Bound-1), "preemption", "preemptions"))
	}
	if c.Faults > 0 {
		text += "; " + plural(int(c.Faults), "fault", "faults")
	}
	if c.Rescued > 0 {
		text += fmt.Sprintf("; %d ended only under a fair continuation", c.Rescued)
	}
	if s.stopped != "" {
		text += "; stopped: " + s.stopped
	}
	lines := []string{text}
	if text := c.grantedText(); text != "" {
		lines = append(lines, "chance that PCT would have shown a bug, at least: "+text)
	}
	return lines
}

func (c *coverage) grantedText() string {
	var parts []string
	for depth := 2; depth < 2+len(c.PCT); depth++ {
		if p := c.granted(depth); p >= 1e-4 {
			parts = append(parts, fmt.Sprintf("of depth %d %.2g", depth, p))
		}
	}
	return strings.Join(parts, ", ")
}

// uncontrolled returns the counts of events that the scheduler does not control, with
// the first place of each kind.
func (c *coverage) uncontrolled(p *pkg) string {
	counts := []struct {
		kind      string
		n         uint64
		one, many string
	}{
		{"raw", c.Raw, "blocking system call", "blocking system calls"}, {"cgo", c.Cgo, "call of a C function", "calls of C functions"},
		{"socket", c.Sockets, "wait for a descriptor of the kernel", "waits for descriptors of the kernel"},
		{"child", c.Children, "child process", "child processes"}, {"signal", c.Signals, "signal", "signals"},
		{"gc", c.GC, "collection asked for by the test", "collections asked for by the test"},
	}
	var parts []string
	for _, k := range counts {
		if k.n == 0 {
			continue
		}
		text := plural(int(k.n), k.one, k.many)
		if o, ok := c.Outside[k.kind]; ok && o.File != "" {
			text += fmt.Sprintf(" (first at %s:%d)", p.file(o.File), o.Line)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
