//go:build linux

package exits

import (
	"cmp"
	"slices"
	"syscall"

	"pgregory.net/rapid"
)

// Programs generates programs.
func Programs() *rapid.Generator[Program] { return rapid.Custom(drawProgram) }

// durations are around the figures of the package: heedTime, leastTime and stepDeadline.
var durations = []int{1, 30, 99, 100, 101, 400, 999, 1000, 1001, 2000, 4999, 5000, 5001, 7000, 12_000, 40_000}

func drawProgram(t *rapid.T) Program {
	p := Program{
		NotReady:    rapid.SampledFrom([]int{-1, -1, 0, 50, 3000, 5000, 20_000}).Draw(t, "not ready"),
		NotReadyEnd: rapid.SampledFrom([]string{endsWell, endsWell, endsPanic, endsGoexit}).Draw(t, "not ready ends"),
		PreDrain:    rapid.SampledFrom([]int{0, 0, 100, 1000, 3000}).Draw(t, "predrain"),
		Deadline:    rapid.SampledFrom([]int{0, 4000, 6000, 10_000, 30_000}).Draw(t, "deadline"),
		Signals:     rapid.IntRange(0, len(signalSets)-1).Draw(t, "signals"),
		Cancel:      rapid.SampledFrom([]int{-1, -1, -1, 0, 1, 700, 3000}).Draw(t, "cancel"),
		StuckAfter:  rapid.SampledFrom([]int{0, 500, 2000}).Draw(t, "stuck after"),
		Probes:      rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 300, 900, 1700, 3000, 5000, 9000}), 0, 4).Draw(t, "probes"),
		Logger:      rapid.SampledFrom([]string{"", "", "", "panics", "exits", "blocks"}).Draw(t, "logger"),
		BadPlan:     rapid.IntRange(-1, mostBadPlans).Draw(t, "bad plan"),
		IgnoresPipe: rapid.IntRange(1, 4).Draw(t, "ignores SIGPIPE") == 4,
	}
	p.Sent = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Sent {
		return Sent{
			At:     rapid.SampledFrom([]int{0, 20, 800, 1500, 2500, 6000, 11_000}).Draw(t, "at"),
			Signal: rapid.SampledFrom([]syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1}).Draw(t, "signal"),
		}
	}), 0, 3).Draw(t, "sent")
	slices.SortStableFunc(p.Sent, func(a, b Sent) int { return cmp.Compare(a.At, b.At) })
	slices.Sort(p.Probes)
	if rapid.IntRange(1, 2).Draw(t, "manager") == 1 {
		p.Manager = Manager{
			Address:  rapid.SampledFrom([]string{"/run/notify", "@abstract"}).Draw(t, "address"),
			Broken:   rapid.IntRange(1, 5).Draw(t, "broken") == 5,
			Unset:    rapid.Bool().Draw(t, "unset"),
			Watchdog: rapid.SampledFrom([]int{0, 400, 3000}).Draw(t, "watchdog"),
			Pid:      rapid.SampledFrom([]string{"", "own", "other"}).Draw(t, "pid"),
		}
	}
	p.Inherited = Inherited{
		Pid:   rapid.SampledFrom([]string{"", "own", "own", "own", "other", "x"}).Draw(t, "listen pid"),
		Count: rapid.SampledFrom([]string{"", "0", "1", "2", "3", "-1", "x"}).Draw(t, "listen fds"),
		Names: rapid.SampledFrom([]string{"", "a", "a:b", "a:b:c:d"}).Draw(t, "listen names"),
		Descriptors: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) struct{ Open, Listens bool } {
			return struct{ Open, Listens bool }{rapid.IntRange(1, 8).Draw(t, "open") > 1, rapid.IntRange(1, 8).Draw(t, "listens") > 1}
		}), 0, 4).Draw(t, "descriptors"),
	}
	switch rapid.IntRange(0, 3).Draw(t, "start") {
	case 0:
		s := drawStart(t)
		p.Start = &s
	case 1:
		p.Starts = rapid.SliceOfN(rapid.Custom(drawStart), 1, 3).Draw(t, "starts")
	}
	p.Steps = rapid.SliceOfN(rapid.Custom(drawStep), 0, 4).Draw(t, "steps")
	if p.Start == nil && len(p.Starts) == 0 && p.Cancel < 0 && !slices.ContainsFunc(p.Sent, func(s Sent) bool { return p.wanted(s.Signal) }) {
		p.Cancel = 700 // or it would never end
	}
	return p
}

func drawEnd(t *rapid.T) string {
	return rapid.SampledFrom([]string{endsWell, endsWell, endsWell, endsFailed, endsPanic, endsGoexit}).Draw(t, "end")
}

func drawStart(t *rapid.T) Start {
	return Start{
		Takes: rapid.SampledFrom([]int{0, 10, 900, 2200, 7000, 60_000}).Draw(t, "takes"),
		Heeds: rapid.IntRange(1, 4).Draw(t, "heeds") > 1,
		Ready: rapid.SampledFrom([]int{-1, 0, 5, 1100}).Draw(t, "ready"),
		End:   drawEnd(t),
		Ended: rapid.SampledFrom([]string{"", "cause", "canceled", "joined", "both", "alike", endsFailed}).Draw(t, "ended"),
	}
}

func drawStep(t *rapid.T) Step {
	of := func(label string) int {
		if rapid.Bool().Draw(t, "has "+label) {
			return 0
		}
		return rapid.SampledFrom(durations).Draw(t, label)
	}
	s := Step{
		Kind:     rapid.SampledFrom([]string{"run", "run", "graceful", "http", "http", "executor", "executor", "group", "own", "own"}).Draw(t, "kind"),
		Takes:    rapid.SampledFrom(durations).Draw(t, "takes"),
		Heeds:    rapid.Bool().Draw(t, "heeds"),
		Deadline: of("deadline"),
	}
	if !s.hasExecutor() {
		if s.Kind == "http" {
			s.Server = drawServer(t)
		}
		if s.Kind != "http" {
			s.End = drawEnd(t)
		}
		return s
	}
	s.Timeout, s.Drain = of("timeout"), of("drain")
	s.Quiet = min(rapid.SampledFrom([]int{0, 0, 50, 1000}).Draw(t, "quiet"), orDefault(s.Timeout, 5000))
	if s.Kind == "own" {
		s.Figures = drawFigures(t)
	} else {
		s.Tasks = rapid.SampledFrom([]int{0, 1, 3, 9}).Draw(t, "tasks")
		s.Length = rapid.SampledFrom([]int{1, 120, 700, 4000}).Draw(t, "length")
	}
	if s.Deadline > 0 {
		s.Drain, s.Deadline = 0, max(s.Deadline, orDefault(s.Timeout, 5000))
	}
	return s
}

// drawFigures draws few figures that are not 0, because the log says the first that applies.
func drawFigures(t *rapid.T) Figures {
	of := func(label string) int { return rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 2}).Draw(t, label) }
	f := Figures{
		Ran: of("ran"), Cancelled: of("cancelled"), Panicked: of("panicked"), TimersCancelled: of("timers cancelled"),
		Held: of("held"), Refused: of("refused"), Aborted: of("aborted"), Drained: of("drained"), Bytes: of("bytes"),
		TimedOut:     rapid.IntRange(1, 4).Draw(t, "timed out") == 4,
		NamesRunning: rapid.Bool().Draw(t, "names running"),
		Refuses:      rapid.IntRange(1, 8).Draw(t, "refuses") == 8,
		Fails:        rapid.IntRange(1, 8).Draw(t, "fails") == 8,
	}
	f.Accepted = f.Ran + f.Cancelled + of("lost")
	return f
}

func drawServer(t *rapid.T) Server {
	s := Server{
		Listener:   rapid.SampledFrom([]string{"tcp", "tcp", "multipath", "pipes"}).Draw(t, "listener"),
		Opens:      rapid.SampledFrom([]int{0, 0, 0, 800, 2500, 7000}).Draw(t, "opens"),
		Hides:      rapid.IntRange(1, 3).Draw(t, "hides") == 3,
		Named:      rapid.Bool().Draw(t, "named"),
		Conns:      rapid.SampledFrom([]string{"socket", "socket", "above", "hidden", "uncomparable"}).Draw(t, "conns"),
		CloseFails: rapid.IntRange(1, 8).Draw(t, "close fails") == 8,
		Hooks:      rapid.Bool().Draw(t, "hooks"),
		Addr:       rapid.SampledFrom([]string{"", ":80"}).Draw(t, "addr"),
		Second:     rapid.IntRange(1, 4).Draw(t, "second listener") == 4,
	}
	s.Clients = rapid.SliceOfN(rapid.Custom(drawClient), 0, 4).Draw(t, "clients")
	if rapid.IntRange(1, 12).Draw(t, "many clients") == 12 { // an error names ten
		for range 11 {
			s.Clients = append(s.Clients, Client{At: -20, Takes: 60_000, Again: -1, Heeds: -1})
		}
	}
	return s
}

func drawClient(t *rapid.T) Client {
	return Client{
		At:      rapid.SampledFrom([]int{-9000, -5100, -3000, -800, -30, -30, -3, 1, 40, 120, 700, 3000}).Draw(t, "at"),
		First:   rapid.SampledFrom([]int{-1, 0, 0, 0, 20, 90, 1000}).Draw(t, "first"),
		Rest:    rapid.SampledFrom([]int{0, 0, 0, 30, 300, 6000}).Draw(t, "rest"),
		Takes:   rapid.SampledFrom([]int{0, 10, 100, 900, 2200, 7000, 60_000}).Draw(t, "takes"),
		Again:   rapid.SampledFrom([]int{-1, 0, 40, 600}).Draw(t, "again"),
		Panics:  rapid.IntRange(1, 8).Draw(t, "panics") == 8,
		Hijacks: rapid.IntRange(1, 4).Draw(t, "hijacks") == 4,
		Heeds:   rapid.SampledFrom([]int{-1, 0, 500, 4000}).Draw(t, "heeds"),
		Closes:  rapid.Bool().Draw(t, "closes"),
		Leaves:  rapid.IntRange(1, 6).Draw(t, "leaves") == 6,
	}
}
