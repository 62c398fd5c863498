package interleave

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eventide/props/interleave/inprocess"
	"eventide/props/lane"
)

// exhaustion is the result of exhausting one scenario.
type exhaustion struct {
	explorer *Explorer
	bound    int // complete up to it; -1: not even without preemptions
	all      bool
	found    *Found
}

func (e exhaustion) String() string {
	switch {
	case e.all:
		return "complete: no schedule needs more preemptions"
	case e.bound >= 0:
		return fmt.Sprintf("complete to %d preemptions", e.bound)
	}
	return "not complete"
}

// exhaustible returns the scenarios that are small enough to run all their schedules:
// pairs of calls, groups, and programs without a Tracer that have at most two
// producers.
func exhaustible() []Scenario {
	small := func(sc Scenario) bool { return sc.Bare.Producers > 2 }
	return slices.Concat(Pairs(false), Pairs(true), LoopPairs(), Groups(), slices.DeleteFunc(Bare(), small))
}

// exhaust runs the schedules of one scenario with at most bound preemptions.
func exhaust(sc Scenario, bound int, over func() bool) (exhaustion, error) {
	e := exhaustion{explorer: NewExplorer(), bound: -1}
	st := inprocess.NewExhaustive(bound)
	var err error
	e.found, err = e.explorer.Explore(sc, st, func(int) bool { return over() })
	e.all, e.bound = st.All(), st.Bound()
	if !st.Complete() {
		e.bound-- // the bound below is complete
	}
	return e, err
}

// exhaustFirst exhausts the small scenarios of this shard, to bound 0, then 1, and so
// on, until over returns true.
func (s settings) exhaustFirst(over func() bool, tell func(lane.Exhausted)) (x lane.Exhausted, found *exhaustion, err error) {
	x = newExhausted()
	if s.first < 0 {
		return x, nil, nil
	}
	began := time.Now()
	defer func() { x.Seconds = time.Since(began).Seconds() }()
	scenarios := slices.DeleteFunc(exhaustible(), func(sc Scenario) bool { return !s.shard.Has(s.seed, sc.Name, 0) })
	x.Scenarios = len(scenarios)
	done := map[string]bool{} // no schedule was left out
	for bound := 0; bound <= s.first; bound++ {
		for _, sc := range scenarios {
			if done[sc.Name] {
				x.To[bound]++
				continue
			}
			if over() {
				return x, nil, nil
			}
			e, err := exhaust(sc, bound, over)
			if err != nil || e.found != nil {
				return x, &e, err
			}
			add(&x, e, bound)
			done[sc.Name] = e.all
			tell(x)
		}
	}
	return x, nil, nil
}

func newExhausted() lane.Exhausted {
	return lane.Exhausted{To: map[int]int{}, Exercised: map[string]int{}}
}

// add adds a scenario that was exhausted to a bound.
func add(x *lane.Exhausted, e exhaustion, bound int) {
	x.Schedules += e.explorer.Schedules
	x.Classes += e.explorer.Classes
	if e.bound < bound && !e.all {
		return
	}
	x.To[bound]++
	if e.all {
		x.All++
	}
	if bound == 1 || e.all && bound < 1 {
		for id := range e.explorer.Exercised {
			x.Exercised[id]++
		}
	}
}

// mergeExhausted adds what another shard has exhausted.
func mergeExhausted(x *lane.Exhausted, y lane.Exhausted) {
	x.Scenarios += y.Scenarios
	x.All += y.All
	x.Schedules += y.Schedules
	x.Classes += y.Classes
	x.Seconds += y.Seconds
	addCounts(x.To, y.To)
	addCounts(x.Exercised, y.Exercised)
}

func addCounts[K comparable, N int | int64](to, from map[K]N) {
	for k, n := range from {
		to[k] += n
	}
}

// exhaustPairs implements -exhaust: it exhausts every small scenario to its bound, and
// prints a line for each scenario. Each scenario gets the whole budget.
func (s settings) exhaustPairs() int {
	record, err := s.openRecord()
	if err != nil {
		fmt.Fprintln(s.err, "lane:", err)
		return exitUsage
	}
	code, ran, schedules, open := exitClean, 0, 0, 0
	for _, sc := range exhaustible() {
		bound := s.boundOf(sc)
		if s.scenario != "" && sc.Name != s.scenario || !s.shard.Has(s.seed, sc.Name, 0) || record.has(sc.Name, bound) {
			continue
		}
		began := time.Now()
		e, err := exhaust(sc, bound, func() bool { return time.Since(began) > s.budget })
		if err != nil {
			fmt.Fprintln(s.err, "lane:", err)
			return exitFound
		}
		x := e.explorer
		ran, schedules = ran+1, schedules+x.Schedules
		cut := !e.all && e.bound < bound && e.found == nil
		if cut {
			open++
		}
		fmt.Fprintf(s.out, "%-40s %7d runs (%d pruned) %6d classes %6d histories %5.1fs  %s%v\n", sc.Name, x.Schedules, x.Pruned, x.Classes, x.Histories, x.Elapsed.Seconds(),
			map[bool]string{true: "NOT to the end, "}[cut], e)
		if e.found != nil {
			s.report(x, e.found)
			fmt.Fprintf(s.out, "violation in %d schedules, %d scenarios: %v\n", schedules, ran, e.found.Violation)
			code = exitFound
			if !s.keep {
				return code
			}
			continue
		}
		record.Scenarios = append(record.Scenarios, e.entry(sc))
		if err := record.save(s.record); err != nil {
			fmt.Fprintln(s.err, "lane:", err)
			return exitUsage
		}
	}
	all := speeds(s.seed)
	if err := s.besideFree(all); err != nil {
		fmt.Fprintln(s.err, "lane:", err)
		return exitUsage
	}
	for _, speed := range all {
		fmt.Fprintln(s.out, speed)
	}
	if code == exitClean {
		fmt.Fprintf(s.out, "no violation in %d schedules, %d scenarios, of which %d not to the end\n", schedules, ran, open)
	}
	return code
}

// boundOf is the bound for a scenario. Pairs with a shutdown call may have a higher one.
func (s settings) boundOf(sc Scenario) int {
	if hasShutdown(sc) {
		return max(s.exhaust, s.exhaustShutdown)
	}
	return s.exhaust
}

// hasShutdown reports whether one of the two calls of a pair is a shutdown. Pairs on an
// event loop do not count: the next bound would take a minute for each of them.
func hasShutdown(sc Scenario) bool {
	return !strings.HasPrefix(sc.Name, "loop ") && slices.ContainsFunc(strings.Split(sc.Name, "|"), func(part string) bool {
		return strings.HasPrefix(part, "graceful(") || part == "shutdown"
	})
}
