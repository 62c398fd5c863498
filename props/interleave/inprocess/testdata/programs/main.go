// Command programs runs small programs under embedded schedules, and checks the verdicts
// of every strategy. It prints a line for each check, and ends with 1 at the first that is wrong.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"eventide/props/interleave/inprocess"
)

func main() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	if !inprocess.Controlled() {
		fmt.Println("WRONG: built without the overlay")
		os.Exit(1)
	}
	time.NewTicker(time.Hour).Stop() // the first one of a process has operations of its own
	report := func(name, wrong string) {
		if wrong != "" {
			fmt.Println("WRONG", name+":", wrong)
			os.Exit(1) // with a wrong engine the next check may have no end
		}
		fmt.Println("ok", name)
	}
	for _, p := range programs {
		for _, name := range append(inprocess.Names(), inprocess.Exhaustive) {
			if p.time != inprocess.Idle && name == inprocess.Exhaustive {
				continue // its clock never moves early
			}
			report(p.name+" by "+name, p.hunt(name))
		}
	}
	report("the clock", clock())
	report("a clock that waits", waits())
	report("timers of the schedule before", abandonedTimers())
	report("yield", yields())
	report("unfairness", unfair())
	report("the chance of pct", chance())
	report("exhaustive", exhaustive())
	report("exhaustive, bounded", bounded())
	report("classes", classes())
	report("a repaired program", repaired())
	report("large schedules", large())
	report("a trace", trace())
	report("races", races())
}

// A program has a bug that some schedules show.
type program struct {
	name string
	want inprocess.Verdict // Finished: run reports whether the bug has shown
	time inprocess.TimeMode
	run  func() bool
}

var programs = []program{
	{"a lost update", inprocess.Finished, inprocess.Idle, lostUpdate},
	{"a lost wake-up", inprocess.Deadlocked, inprocess.Idle, func() bool { lostWakeUp(false); return false }},
	{"a leak", inprocess.Leaked, inprocess.Idle, leak},
	{"a panic", inprocess.Panicked, inprocess.Idle, panics},
	{"a livelock", inprocess.Livelocked, inprocess.Idle, livelock},
	{"a ticker without an end", inprocess.OutOfSteps, inprocess.Idle, ticker},
	{"an early timer", inprocess.Finished, inprocess.Adversarial, early},
	{"a timer that is a nanosecond late", inprocess.Finished, inprocess.Boundary, late},
}

// hunt looks for the bug, and replays what it finds.
func (p program) hunt(name string) string {
	const most = 3000
	s, err := inprocess.New(name, 7)
	if name == inprocess.Exhaustive {
		s, err = inprocess.NewExhaustive(2), nil
	}
	if err != nil {
		return err.Error()
	}
	for n := 1; n <= most && s.Begin(); n++ {
		shown, r := p.once(s)
		s.End(r, true)
		if !shown {
			if r.Verdict != inprocess.Finished && r.Verdict != inprocess.Pruned {
				return fmt.Sprintf("schedule %d: %v, %v", n, r.Verdict, r.Blocked)
			}
			continue
		}
		return p.again(r)
	}
	return "not found"
}

func (p program) once(s *inprocess.Strategy) (shown bool, r *inprocess.Result) {
	r = inprocess.Run(s, inprocess.Options{Time: p.time, MaxSteps: 2000}, func() { shown = p.run() })
	return r.Verdict == p.want && (shown || p.want != inprocess.Finished), r
}

// again replays a schedule several times.
func (p program) again(first *inprocess.Result) string {
	s := inprocess.NewReplay(first.Switches)
	for range 5 {
		s.Begin()
		shown, r := p.once(s)
		if !shown || r.Class != first.Class || r.Steps != first.Steps || s.Unused() != 0 {
			return fmt.Sprintf("the replay of %v: shown %v, %d steps, class %x, %v, %d switches unused; the schedule: %d steps, class %x, %v",
				first.Switches, shown, r.Steps, r.Class, r.Verdict, s.Unused(), first.Steps, first.Class, first.Verdict)
		}
	}
	return ""
}

// repaired explores a program without a bug, for ever the same in each replay.
func repaired() string {
	s, err := inprocess.NewMix(1, inprocess.Names()...)
	if err != nil {
		return err.Error()
	}
	classes := map[uint64]bool{}
	for range 2000 {
		s.Begin()
		r := inprocess.Run(s, inprocess.Options{}, func() { lostWakeUp(true) })
		if r.Verdict != inprocess.Finished {
			return fmt.Sprint(r.Verdict, r.Blocked)
		}
		s.End(r, !classes[r.Class])
		classes[r.Class] = true
		first := *r
		replay := inprocess.NewReplay(r.Switches)
		replay.Begin()
		r = inprocess.Run(replay, inprocess.Options{}, func() { lostWakeUp(true) })
		if r.Class != first.Class || r.Steps != first.Steps {
			return "a replay differs"
		}
	}
	if len(classes) < 5 {
		return fmt.Sprintf("%d classes", len(classes))
	}
	return ""
}
