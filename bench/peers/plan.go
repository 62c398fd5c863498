package peers

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// An Impl is an implementation under measurement, as the plan has it.
type Impl struct {
	Name   string
	driver driverKind
	only   string // the beginning of the names of the workloads it is asked; "": all

	// hoards: what it did not run before its end stays in memory, and would be in the
	// way of everybody's garbage collector.
	hoards bool
}

// asks is whether the implementation is a part of the workload.
func (im Impl) asks(w Workload) bool { return strings.HasPrefix(w.Name, im.only) }

var (
	goDriver     = driverKind{"go", ourselves}
	nettyNIO     = driverKind{"netty-nio", netty("nio")}
	nettyDefault = driverKind{"netty-default", netty("default")}
	libuv        = driverKind{"libuv", built("uv")}
	boostAsio    = driverKind{"asio", built("asio")}
)

// Impls are all implementations, in the order of the table.
var Impls = []Impl{
	{Name: "core", driver: goDriver}, {Name: "core-pool", driver: goDriver}, {Name: "core-loop", driver: goDriver},
	{Name: "core-own", driver: goDriver, only: "schedule-cancel/"},
	{Name: "core-loop-blocking", driver: goDriver, only: "readiness/"},
	{Name: "netty-nio", driver: nettyNIO}, {Name: "netty-default", driver: nettyDefault},
	{Name: "gnet", driver: goDriver, hoards: true}, {Name: "channel", driver: goDriver}, {Name: "afterfunc", driver: goDriver},
	{Name: "ants", driver: goDriver}, {Name: "pond", driver: goDriver}, {Name: "net", driver: goDriver},
	{Name: "libuv", driver: libuv}, {Name: "asio", driver: boostAsio},
}

// implNamed returns one of them.
func implNamed(name string) (Impl, bool) {
	i := slices.IndexFunc(Impls, func(im Impl) bool { return im.Name == name })
	if i < 0 {
		return Impl{}, false
	}
	return Impls[i], true
}

// A Workload is one request, asked of everybody.
type Workload struct {
	Name    string
	Base    string // the implementation that the table's ratios are to
	Figures []Figure
	run     func(s *session, im Impl) (Answer, error)
	warm    bool // repeat it before the first round, until compilers are through

	// connections are open at the same time: each is a descriptor of the server and
	// one of the client.
	connections int
}

// descriptors is how many a process needs for the workload, with some to spare for what
// else it has open.
func (w Workload) descriptors() uint64 { return uint64(w.connections) + 200 }

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

// perChannel are the bytes that a process grows by for a connection.
func perChannel() []Figure {
	of := func(bytes func(a Answer) int64) func(a Answer) float64 {
		return func(a Answer) float64 { return float64(bytes(a)) / float64(a.Ops) }
	}
	return []Figure{
		{Suffix: "/resident", Unit: "B/channel", Of: of(func(a Answer) int64 { return a.Resident })},
		{Suffix: "/heap+stack", Unit: "B/channel", Of: of(func(a Answer) int64 { return a.Heap + a.Stack })},
	}
}

func quantiles(percents ...float64) []Figure {
	var figures []Figure
	for _, p := range percents {
		name := fmt.Sprintf("/p%v", p)
		if p == 100 {
			name = "/max"
		}
		figures = append(figures, Figure{
			Suffix: name, Unit: "ns",
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
// slice takes some ten milliseconds, except for a steady load and the largest of a curve.
const (
	executeTasks   = 500_000
	idleTrips      = 200
	idlePause      = 200 * time.Microsecond
	busyTrips      = 2_000
	steadyTime     = time.Second
	warmShare      = 5 // measured tasks for each that warms up
	startTime      = 5 * time.Millisecond
	startLeast     = 2_000 // tasks, for a percentile 99.9 that is not simply the maximum
	timerPairs     = 16_000
	lateTimers     = 200
	idleShutdowns  = 20
	quietPeriod    = 20 * time.Millisecond
	quietExecutors = 12
	idleChannels   = 10_000
)

// spinners leave no processor to what waits.
var spinners = 2 * runtime.NumCPU()

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
			Name: fmt.Sprintf("latency/load=%d", load), Base: "netty-nio", Figures: quantiles(50, 99, 99.9, 100), warm: true,
			run: func(s *session, im Impl) (Answer, error) { return s.latency(im, load) },
		}, Workload{
			Name: fmt.Sprintf("latency-start/load=%d", load), Base: "netty-nio", Figures: quantiles(50, 99, 99.9, 100), warm: true,
			run: func(s *session, im Impl) (Answer, error) { return s.start(im, load) },
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
			run: func(s *session, im Impl) (Answer, error) { return s.backlog(im, n) },
		})
	}
	for _, n := range []int{1, 50, 1000} {
		all = append(all, Workload{
			Name: fmt.Sprintf("echo/connections=%d", n), Base: "net", Figures: perSecond(),
			run: func(s *session, im Impl) (Answer, error) { return s.echo(im, n) }, connections: n,
		})
	}
	all = append(all,
		Workload{Name: "readiness/idle", Base: "net", Figures: quantiles(50, 99),
			run: func(s *session, im Impl) (Answer, error) { return s.readiness(im, 0) }},
		Workload{Name: "readiness/burn", Base: "net", Figures: quantiles(50, 99),
			run: func(s *session, im Impl) (Answer, error) { return s.readiness(im, spinners) }},
		Workload{Name: fmt.Sprintf("memory/idle-channels=%d", idleChannels), Base: "gnet", Figures: perChannel(),
			run: func(s *session, im Impl) (Answer, error) { return s.memory(im, idleChannels) }, connections: idleChannels},
	)
	for _, n := range []int{100, 1_000, 10_000, 16_000, 100_000} {
		all = append(all, Workload{
			Name: fmt.Sprintf("shutdown/channels=%d", n), Base: "netty-nio", Figures: perOp("ns/shutdown"),
			run: func(s *session, im Impl) (Answer, error) { return s.channels(im, n) }, connections: n,
		})
	}
	return all
}
