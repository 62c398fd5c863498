package peers

import "fmt"

// A Target is a limit that the project has set itself, and what was measured.
type Target struct {
	Name   string  `json:"name"`
	Ratio  float64 `json:"ratio"` // or nanoseconds, if the name says so
	Low    float64 `json:"low"`   // 95 % confidence interval
	High   float64 `json:"high"`
	Limit  float64 `json:"limit"`
	Least  bool    `json:"at_least,omitempty"` // the limit is a lower one
	Met    bool    `json:"met"`
	Reason string  `json:"reason,omitempty"` // why there is nothing to judge: then it is not met
}

// limit is a row of the table of targets.
type limit struct {
	workload string // with the figure's suffix
	ours     []string
	against  string // "": the figure itself, in ns
	limit    float64
	least    bool // higher is better: at least so much, by the low end of the interval
}

var (
	both = []string{"core", "core-loop"}
	loop = []string{"core-loop"}
	own  = []string{"core-own"} // timers in memory of the caller
)

// limits are those of "at most so many times the time of"; an echo's are of
// requests per second.
func limits() []limit {
	l := []limit{
		{"execute/producers=1", both, "netty-nio", 0.6, false},
		{"execute/producers=2", both, "netty-nio", 0.6, false},
		{"execute/producers=4", both, "netty-nio", 0.6, false},
		{"execute/producers=1", both, "channel", 0.35, false},
		{"execute/producers=2", both, "channel", 0.6, false},
		{"execute/producers=4", both, "channel", 0.7, false},
		{"execute/producers=64", both, "channel", 1.0, false},
		{"execute/in-loop", both, "netty-nio", 0.7, false},
		{"roundtrip/idle/p50", loop, "channel", 3.0, false},
		{"roundtrip/busy/p50", loop, "channel", 1.0, false},
		{"roundtrip/idle/p50", loop, "netty-nio", 0.2, false},
		{"roundtrip/idle/p50", loop, "libuv", 0.2, false},
		{"schedule-cancel/in-loop", both, "netty-nio", 0.5, false},
		{"schedule-cancel/in-loop", own, "netty-nio", 1.0, false},
		{"timer-lateness/p50", loop, "afterfunc", 0.2, false},
		{"timer-lateness/p99", loop, "afterfunc", 0.5, false},
		{"shutdown/idle/p50", both, "netty-nio", 0.1, false},
		{"quiet-overshoot/p99", both, "", 1e6, false},
		{"shutdown/channels=10000", loop, "netty-nio", 0.7, false},
	}
	for _, load := range []int{10, 50, 90} {
		for _, q := range []string{"p50", "p99", "p99.9"} {
			name, ofChannel := fmt.Sprintf("latency/load=%d/%s", load, q), 1.0
			if q == "p50" {
				ofChannel = 0.5 // as package compare has it: the median half, and the tail no worse
			}
			l = append(l, limit{name, both, "netty-nio", 0.5, false}, limit{name, both, "channel", ofChannel, false})
		}
	}
	for _, n := range []int{0, 1_000, 10_000, 100_000, 1_000_000} {
		l = append(l, limit{fmt.Sprintf("shutdown/backlog=%d", n), both, "netty-nio", 0.7, false})
	}
	for _, against := range []string{"gnet", "net"} {
		l = append(l,
			limit{"echo/connections=1", loop, against, 0.8, true},
			limit{"echo/connections=50", loop, against, 0.95, true},
			limit{"echo/connections=1000", loop, against, 0.95, true})
	}
	return l
}

// Targets judges the workloads that were run.
func (rec Recording) Targets() []Target {
	figures := map[string]struct {
		w Workload
		f Figure
	}{}
	for _, w := range Workloads() {
		for _, f := range w.Figures {
			figures[w.Name+f.Suffix] = struct {
				w Workload
				f Figure
			}{w, f}
		}
	}
	ran := map[string]bool{}
	for _, s := range rec.Slices {
		ran[s.Workload] = true
	}
	var targets []Target
	for _, l := range limits() {
		at := figures[l.workload]
		if !ran[at.w.Name] {
			continue
		}
		for _, impl := range l.ours {
			if _, about := rec.row(at.w, at.f, impl); about {
				targets = append(targets, rec.target(l, at.w, at.f, impl))
			}
		}
	}
	return targets
}

func (rec Recording) target(l limit, w Workload, f Figure, impl string) Target {
	t := Target{Name: fmt.Sprintf("%s %s / %s", l.workload, impl, l.against), Limit: l.limit, Least: l.least}
	if l.against == "" {
		t.Name = fmt.Sprintf("%s %s, ns", l.workload, impl)
	}
	for _, side := range []string{impl, l.against} {
		if side == "" {
			continue
		}
		row, about := rec.row(w, f, side)
		switch {
		case !about:
			t.Reason = side + ": not a part of this run"
		case row.Status != Measured:
			t.Reason = fmt.Sprintf("%s: %s: %s", side, row.Status, row.Reason)
		}
		if t.Reason != "" {
			return t
		}
	}
	if n := rec.Header.Rounds; n < MinRounds {
		t.Reason = fmt.Sprintf("a trial of %d rounds, want %d", n, MinRounds)
		return t
	}
	own := rec.values(w, f, impl)
	m := median(collectValues(own))
	if l.against != "" {
		m, _ = ratio(own, rec.values(w, f, l.against))
	}
	t.Ratio, t.Low, t.High = m.Center, m.Lo, m.Hi
	t.Met = t.Ratio <= l.limit
	if l.least {
		t.Met = t.Low >= l.limit
	}
	return t
}

func collectValues(m map[int]float64) []float64 {
	var v []float64
	for _, x := range m {
		v = append(v, x)
	}
	return v
}
