package results

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"eventide/bench/compare"
)

// A figure is a plot of the page.
type Figure struct {
	File, Title string
	plot        plot
}

// figures draws what the raw files have data for: no file is made for a plot that
// would have no line in it, and the page says so.
func figures(rows []compare.Row, histograms []compare.Histogram, p *peers) []Figure {
	var all []Figure
	for _, c := range curves {
		all = c.draw(all, rows)
	}
	if p != nil {
		for _, c := range peersCurves {
			all = c.draw(all, p.measured())
		}
	}
	if lines := distributions("RoundTrip", histograms); len(lines) > 0 {
		title := "Round trip to an idle loop: the distribution"
		all = append(all, Figure{"roundtrip.svg", title, plot{
			title: title, series: lines,
			x: axis{label: "percentile", ticks: percentiles}, y: axis{label: "time", log: true, time: true},
		}})
	}
	return all
}

// A curve is a plot of a workload's cost against one of its keys.
type curve struct {
	file, title, x, y string
	workload          *regexp.Regexp // with the key's value as its group
	unit              string
	impls             []string
}

var curves = []curve{
	{
		"producers.svg", "Execute, by the number of producers", "producers", "time per task",
		regexp.MustCompile(`^Execute/producers=(\d+)$`), "ns/task", []string{"core", "core-bounded", "loop", "channel", "mutex", "bare"},
	}, {
		"timers.svg", "Schedule and cancel, by the number of pending timers", "pending timers", "time per pair",
		regexp.MustCompile(`^ScheduleCancel/where=loop/timers=(\d+)$`), "ns/pair", []string{"core", "afterfunc"},
	}, {
		"shutdown-tasks.svg", "Shutdown, by the number of queued tasks", "queued tasks", "time until the end, p50",
		regexp.MustCompile(`^Shutdown/tasks=(\d+)$`), "p50 ns/stop", []string{"core", "loop", "channel"},
	}, {
		"shutdown-hooks.svg", "Shutdown, by the number of hooks", "hooks", "time until the end, p50",
		regexp.MustCompile(`^Shutdown/hooks=(\d+)$`), "p50 ns/stop", []string{"core", "loop"},
	}, {
		"shutdown-timers.svg", "Shutdown, by the number of pending timers", "pending timers", "time until the end, p50",
		regexp.MustCompile(`^Shutdown/timers=(\d+)$`), "p50 ns/stop", []string{"core", "loop"},
	}, {
		"shutdown-registrations.svg", "Shutdown, by the number of registrations", "registrations", "time until the end, p50",
		regexp.MustCompile(`^Shutdown/registrations=(\d+)$`), "p50 ns/stop", []string{"loop", "loop-blocking"},
	}, {
		"latency.svg", "Submit to begin at half the peak load, by producers", "producers", "time, p99",
		regexp.MustCompile(`^SubmitLatency/load=50/producers=(\d+)$`), "p99 ns/task", []string{"core", "loop", "channel"},
	},
}

var peersCurves = []curve{
	{
		"shutdown-channels.svg", "Shutdown of an echo server, by the number of open channels", "open channels", "time until the end",
		regexp.MustCompile(`^shutdown/channels=(\d+)$`), "ns/shutdown", []string{"core-loop", "netty-nio", "gnet", "net", "libuv", "asio"},
	}, {
		"peers-producers.svg", "Execute beside other libraries, by the number of producers", "producers", "time per task",
		regexp.MustCompile(`^execute/producers=(\d+)$`), "ns/task", []string{"core", "core-pool", "core-loop", "netty-nio", "channel", "gnet", "asio"},
	}, {
		"peers-backlog.svg", "Shutdown beside other libraries, by the number of queued tasks", "queued tasks", "time until the end",
		regexp.MustCompile(`^shutdown/backlog=(\d+)$`), "ns/shutdown", []string{"core", "core-pool", "core-loop", "netty-nio", "netty-default", "pond", "asio"},
	},
}

// measured are the rows that a curve can be made of.
func (p peers) measured() []compare.Row {
	var rows []compare.Row
	for _, r := range p.Rows {
		if r.Rounds > 0 {
			rows = append(rows, compare.Row{Workload: r.Workload, Impl: r.Impl, Unit: r.Unit, Median: r.Median, MedianLow: r.Low, MedianHigh: r.High})
		}
	}
	return rows
}

// draw appends the curve's plot, if it has a line.
func (c curve) draw(all []Figure, rows []compare.Row) []Figure {
	lines := c.lines(rows)
	if len(lines) == 0 {
		return all
	}
	return append(all, Figure{c.file, c.title, plot{
		title: c.title, series: lines,
		x: axis{label: c.x, log: true}, y: axis{label: c.y, log: true, time: true},
	}})
}

// lines returns one line for each implementation with two points or more. A
// logarithmic axis has no place for zero: what nothing costs is in the table.
func (c curve) lines(rows []compare.Row) []series {
	var all []series
	for _, impl := range c.impls {
		s := series{name: impl}
		for _, r := range rows {
			m := c.workload.FindStringSubmatch(r.Workload)
			if m == nil || r.Impl != impl || r.Unit != c.unit || r.Median <= 0 {
				continue
			}
			if n, err := strconv.ParseFloat(m[1], 64); err == nil && n > 0 {
				s.points = append(s.points, point{n, r.Median, r.MedianLow, r.MedianHigh})
			}
		}
		slices.SortFunc(s.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
		if len(s.points) > 1 {
			all = append(all, s)
		}
	}
	return all
}

// percentiles are the ticks of a distribution: each step is ten times as rare.
var percentiles = []tick{{0, "min"}, {nines(50), "50"}, {nines(90), "90"}, {nines(99), "99"}, {nines(99.9), "99.9"}, {nines(99.99), "99.99"}}

// nines is 1 for 90 percent, 2 for 99, and so on.
func nines(percent float64) float64 { return -math.Log10(1 - percent/100) }

// distributions are the implementations of a workload that kept a histogram.
func distributions(workload string, histograms []compare.Histogram) []series {
	var all []series
	for _, impl := range []string{"core", "loop", "loop-blocking", "unbuffered", "channel"} {
		for _, h := range histograms {
			if what, of, ok := strings.Cut(h.Name, "/impl="); !ok || what != workload || of != impl {
				continue
			}
			s := series{name: impl}
			for x := 0.0; x <= nines(99.99); x += nines(99.99) / 80 {
				v := float64(h.ValueAtQuantile(100 * (1 - math.Pow(10, -x))))
				s.points = append(s.points, point{x: x, y: max(1, v)})
			}
			all = append(all, s)
		}
	}
	return all
}
