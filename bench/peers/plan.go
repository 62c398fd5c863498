package peers

import (
	"fmt"
	"time"
)

// An Impl is an implementation under measurement, as the plan has it.
type Impl struct {
	Name   string
	driver driverKind
}

var (
	goDriver     = driverKind{"go", ourselves}
	nettyNIO     = driverKind{"netty-nio", netty("nio")}
	nettyDefault = driverKind{"netty-default", netty("default")}
	libuv        = driverKind{"libuv", built("uv")}
	boostAsio    = driverKind{"asio", built("asio")}
)

// Impls are all implementations, in the order of the table.
var Impls = []Impl{
	{"core", goDriver}, {"core-loop", goDriver},
	{"netty-nio", nettyNIO}, {"netty-default", nettyDefault},
	{"gnet", goDriver}, {"channel", goDriver}, {"afterfunc", goDriver},
	{"ants", goDriver}, {"pond", goDriver}, {"net", goDriver},
	{"libuv", libuv}, {"asio", boostAsio},
}

// A Workload is one request, asked of everybody.
type Workload struct {
	Name    string
	Base    string // the implementation that the table's ratios are to
	Figures []Figure
	run     func(s *session, im Impl) (Answer, error)
	warm    bool // repeat it before the first round, until compilers are through
}

// A Figure is a number that a slice yields.
type Figure struct {
	Suffix string // of the workload's name
	Unit   string
	Of     func(Answer) float64
	Higher bool // higher is better
}

func perOp(unit string) []Figure {
	return []Figure{{Unit: unit, Of: func(a Answer) float64 { return float64(a.Elapsed) / float64(a.Ops) }}}
}

func perSecond() []Figure {
	return []Figure{{Unit: "requests/s", Higher: true, Of: func(a Answer) float64 {
		return float64(a.Ops) / time.Duration(a.Elapsed).Seconds()
	}}}
}

func quantiles(percents ...float64) []Figure {
	var figures []Figure
	for _, p := range percents {
		figures = append(figures, Figure{
			Suffix: fmt.Sprintf("/p%v", p), Unit: "ns",
			Of: func(a Answer) float64 { return a.Samples.Quantile(p) },
		})
	}
	return figures
}

// asked is a workload that is no more than a request.
func asked(word string, pairs ...any) func(s *session, im Impl) (Answer, error) {
	return func(s *session, im Impl) (Answer, error) { return s.ask(im, word, pairs...) }
}

// The sizes of the workloads. They are the same for everybody, and such that a
// slice takes some ten milliseconds, but a curve's largest.
const (
	executeTasks   = 500_000
	idleTrips      = 200
	idlePause      = 200 * time.Microsecond
	busyTrips      = 2_000
	latencyLeast   = 10_000
	latencyMost    = 300_000
	latencyTime    = 30 * time.Millisecond
	timerPairs     = 16_000
	lateTimers     = 200
	idleShutdowns  = 20
	quietPeriod    = 20 * time.Millisecond
	quietExecutors = 12
)

// Workloads are all of them, in the order of the table.
func Workloads() []Workload {
	var all []Workload
	for _, p := range []int{1, 2, 4, 64} {
		all = append(all, Workload{
			Name: fmt.Sprintf("execute/producers=%d", p), Base: "netty-nio", Figures: perOp("ns/task"), warm: true,
			run: asked("execute", "producers", p, "n", executeTasks),
		})
	}
	all = append(all,
		Workload{Name: "execute/in-loop", Base: "netty-nio", Figures: perOp("ns/task"), warm: true,
			run: asked("inloop", "n", executeTasks)},
		Workload{Name: "roundtrip/idle", Base: "netty-nio", Figures: quantiles(50, 99), warm: true,
			run: asked("roundtrip", "pause", int64(idlePause), "n", idleTrips)},
		Workload{Name: "roundtrip/busy", Base: "netty-nio", Figures: quantiles(50, 99), warm: true,
			run: asked("roundtrip", "pause", 0, "n", busyTrips)},
	)
	for _, load := range []int{10, 50, 90} {
		all = append(all, Workload{
			Name: fmt.Sprintf("latency/load=%d", load), Base: "netty-nio", Figures: quantiles(50, 99, 99.9), warm: true,
			run: func(s *session, im Impl) (Answer, error) { return s.latency(im, load) },
		})
	}
	all = append(all,
		Workload{Name: "schedule-cancel/in-loop", Base: "netty-nio", Figures: perOp("ns/pair"), warm: true,
			run: asked("schedulecancel", "where", "loop", "n", timerPairs)},
		Workload{Name: "schedule-cancel/outside", Base: "netty-nio", Figures: perOp("ns/pair"), warm: true,
			run: asked("schedulecancel", "where", "outside", "n", timerPairs)},
		Workload{Name: "timer-lateness", Base: "netty-nio", Figures: quantiles(50, 99),
			run: asked("lateness", "n", lateTimers)},
		Workload{Name: "shutdown/idle", Base: "netty-nio", Figures: quantiles(50), warm: true,
			run: asked("shutdown", "n", idleShutdowns)},
		Workload{Name: "quiet-overshoot", Base: "netty-nio", Figures: quantiles(50, 99),
			run: asked("overshoot", "quiet", int64(quietPeriod), "n", quietExecutors)},
	)
	for _, n := range []int{0, 1_000, 10_000, 100_000, 1_000_000} {
		all = append(all, Workload{
			Name: fmt.Sprintf("shutdown/backlog=%d", n), Base: "netty-nio", Figures: perOp("ns/shutdown"),
			run: asked("backlog", "tasks", n),
		})
	}
	for _, n := range []int{1, 50, 1000} {
		all = append(all, Workload{
			Name: fmt.Sprintf("echo/connections=%d", n), Base: "net", Figures: perSecond(),
			run: func(s *session, im Impl) (Answer, error) { return s.echo(im, n) },
		})
	}
	for _, n := range []int{100, 1_000, 10_000} {
		all = append(all, Workload{
			Name: fmt.Sprintf("shutdown/channels=%d", n), Base: "netty-nio", Figures: perOp("ns/shutdown"),
			run: func(s *session, im Impl) (Answer, error) { return s.channels(im, n) },
		})
	}
	return all
}
