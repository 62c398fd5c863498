package driver

import (
	"fmt"
	"strings"
	"time"

	"eventide/props/interleave/overlay"
)

// controlled and uncontrolled are the lists that Doctor prints.
var controlled = []string{
	"goroutines: start, end, block, wake-up; runtime.Gosched",
	"channels: send, receive, close, len, range; select, and its choice of a case",
	"package sync: Mutex, RWMutex, Cond, WaitGroup, Once, Map, Pool; package sync/atomic",
	"package time and deadlines of package context: virtual time",
	"chance: map order, math/rand, hash seeds",
	"with -race: the race detector sees each schedule; a switch from one goroutine to another orders nothing for the detector",
}

var uncontrolled = []string{
	"system calls that block, sockets, child processes, signals: they take real time, and are counted",
	"calls of C functions: packages that use cgo are refused",
	"garbage collections that the test asks for: they are counted",
	"examples, fuzz tests and benchmarks: they are not explored",
	"plain loads and stores: goroutines are not switched at them; -race reports their races",
}

// Doctor looks for each planted bug with this toolchain, and prints what is controlled.
func Doctor(o Options) (int, error) {
	o.Exhaust = -1
	s, err := newSession(&o)
	if err != nil {
		return ExitInput, err
	}
	t := s.builder.tool
	fmt.Fprintf(o.Stdout, "go       %s %s/%s, %s\n", t.Version, t.OS, t.Arch, t.Root)
	fmt.Fprintf(o.Stdout, "overlay  %s; supported releases: %s\n", s.builder.hash, strings.Join(overlay.Supported(), ", "))
	if t.OS != "linux" || t.Arch != "amd64" {
		fmt.Fprintf(o.Stdout, "         %s/%s is not tested\n", t.OS, t.Arch)
	}
	code := ExitNothing
	for _, race := range []bool{false, true} {
		variant := o
		variant.Race = race
		b := *s.builder
		b.opts = &variant
		if !s.examine(&b, race) {
			code = ExitUndecided
		}
	}
	fmt.Fprintf(o.Stdout, "controlled\n  %s\n", strings.Join(controlled, "\n  "))
	fmt.Fprintf(o.Stdout, "not controlled\n  %s\n", strings.Join(uncontrolled, "\n  "))
	return code, nil
}

// examine looks for the planted bugs of one kind of build, and says whether each was
// found.
func (s *session) examine(b *builder, race bool) bool {
	kind := "plain"
	if race {
		kind = "-race"
	}
	begin := time.Now()
	planted, p, err := b.plantedPackage()
	if err != nil {
		fmt.Fprintf(s.opts.Stdout, "build    %s: %v\n", kind, err)
		return false
	}
	fmt.Fprintf(s.opts.Stdout, "build    %s: %v\n", kind, time.Since(begin).Round(10*time.Millisecond))
	all := true
	for _, bug := range plantedBugs {
		if bug.Race && !race {
			continue
		}
		e, err := planted.find(p, bug, s.opts.Seed)
		switch {
		case err != nil:
			all = false
			fmt.Fprintf(s.opts.Stdout, "MISSED   %s: %v\n", kind, err)
		case e.finding == nil:
			fmt.Fprintf(s.opts.Stdout, "clean    %s: %s: %d schedules\n", kind, bug.What, e.counts.Schedules)
		default:
			fmt.Fprintf(s.opts.Stdout, "found    %s: %s: schedule %d\n", kind, bug.What, e.finding.Number)
		}
	}
	return all
}
