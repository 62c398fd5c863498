package driver

import (
	"fmt"
	"time"

	"eventide/props/interleave/protocol"
)

// benchTime is how long Bench measures each row.
const benchTime = 2 * time.Second

// benchRows are the tests of the planted package that Bench measures.
var benchRows = []struct{ test, what string }{
	{"TestSpeedUpdates", "three goroutines, load and store"},
	{"TestSpeedLocks", "three goroutines, two locks"},
	{"TestSpeedChannels", "a producer and two consumers, ten items"},
}

// Bench prints the time of the builds and the schedules per second on one processor.
func Bench(o Options) (int, error) {
	o.Exhaust = -1
	s, err := newSession(&o)
	if err != nil {
		return ExitInput, err
	}
	fmt.Fprintf(o.Stdout, "%s %s/%s\n", s.builder.tool.Version, s.builder.tool.OS, s.builder.tool.Arch)
	for _, race := range []bool{false, true} {
		variant := o
		variant.Race = race
		b := *s.builder
		b.opts = &variant
		if err := s.measure(&b, race); err != nil {
			return ExitUndecided, err
		}
	}
	return ExitNothing, nil
}

func (s *session) measure(b *builder, race bool) error {
	kind := ""
	if race {
		kind = ", -race"
	}
	begin := time.Now()
	planted, p, err := b.plantedPackage()
	if err != nil {
		return err
	}
	fmt.Fprintf(s.opts.Stdout, "%-52s %10v\n", "build"+kind, time.Since(begin).Round(10*time.Millisecond))
	for _, row := range benchRows {
		run := &process{pkg: p, opts: planted.opts, pattern: "^" + row.test + "$", count: 1 << 30,
			request: protocol.Request{Seed: s.opts.Seed, Net: s.opts.Net, Budget: benchTime}}
		e, err := run.start()
		if err != nil {
			return err
		}
		if e.finding != nil {
			return fmt.Errorf("%s: %s: %s", row.test, e.finding.Verdict, e.output)
		}
		s.rate(row.what+kind, e.counts.Schedules, e.took, e.cpu)
	}
	return s.measureProcesses(planted, p, kind)
}

// rate prints the schedules per second of elapsed time and per second of processor
// time. On a machine with other work compare the second figure.
func (s *session) rate(what string, n uint64, took, cpu time.Duration) {
	fmt.Fprintf(s.opts.Stdout, "%-52s %10.0f schedules/s %10.0f of processor time\n", what, float64(n)/took.Seconds(), float64(n)/cpu.Seconds())
}

// measureProcesses measures a process for each schedule.
func (s *session) measureProcesses(planted *builder, p *pkg, kind string) error {
	n, cpu := uint64(0), time.Duration(0)
	begin := time.Now()
	for ; time.Since(begin) < benchTime; n++ {
		run := &process{pkg: p, opts: planted.opts, pattern: "^" + benchRows[0].test + "$", count: 1,
			request: protocol.Request{Seed: s.opts.Seed, Net: s.opts.Net, First: n, Cold: true}}
		e, err := run.start()
		if err != nil {
			return err
		}
		cpu += e.cpu
	}
	s.rate("a process for each schedule"+kind, n, time.Since(begin), cpu)
	return nil
}
