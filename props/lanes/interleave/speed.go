package interleave

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"eventide/core"
	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
	"eventide/props/lane"
	"eventide/props/lanes/interleave/bare"
)

// speedPrograms have five goroutines each: four callers and the loop. One drives core
// as a user does; the other as the properties do, with a Tracer that keeps a history.
func speedPrograms() []Scenario {
	steps := slices.Concat(submits(history.OpExecute)(1), submits(history.OpSchedule)(2), submits(history.OpExecute)(3))
	return []Scenario{
		{Name: "as a user", Bare: &bare.Config{Producers: 4, Tasks: 8}},
		{Name: "with a history", Program: props.Program{Actors: []props.Actor{
			{Steps: steps}, {Steps: numbered(steps, 10)}, {Steps: numbered(steps, 20)},
			{Steps: append(numbered(steps, 30), calls[7].steps(0)...)},
		}}},
	}
}

// numbered returns the steps with other labels.
func numbered(steps []props.Step, from int) []props.Step {
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].ID += from
	}
	return steps
}

// perSecond repeats f for about d, and returns the sum of its results per second of
// processor time of the process, which does not depend on other load on the machine.
func perSecond(d time.Duration, f func() (n int)) float64 {
	began, cpu := time.Now(), lane.ProcessTime()
	n := f() // on a busy machine more than d may have passed
	for time.Since(began) < d {
		n += f()
	}
	used := lane.ProcessTime() - cpu
	if used <= 0 {
		used = time.Since(began)
	}
	return float64(n) / used.Seconds()
}

// measure runs a program for about d under a strategy.
func measure(sc Scenario, st *inprocess.Strategy, d time.Duration) lane.Speed {
	x, schedules := NewExplorer(), 0
	s := lane.Speed{Program: sc.Name, Race: inprocess.RaceBuild}
	s.Steps = perSecond(d, func() int {
		st.Begin()
		r, _ := x.run(sc, st, false)
		st.End(r, x.count(r))
		schedules++
		return r.Steps
	})
	s.Schedules = s.Steps * float64(schedules) / float64(max(1, x.Steps))
	return s
}

// measureFree runs a program for about d without a scheduler, in a binary without the
// overlay.
func measureFree(sc Scenario, d time.Duration) lane.Speed {
	return lane.Speed{Program: sc.Name, Race: inprocess.RaceBuild, Free: perSecond(d, func() int {
		if sc.Bare != nil {
			bare.Run(*sc.Bare)
		} else {
			props.Run(sc.Program)
		}
		return 1
	})}
}

// shortLook is the time of each measurement in a run that is not a benchmark.
const shortLook = 30 * time.Millisecond

// speeds measures this build for shortLook per program.
func speeds(seed uint64) []lane.Speed {
	var all []lane.Speed
	for _, sc := range speedPrograms() {
		st, err := inprocess.New("pct3", seed)
		if err != nil {
			panic(err) // the name is a constant
		}
		all = append(all, measure(sc, st, shortLook))
	}
	return all
}

// besideFree adds to each speed that of the program in the binary without the overlay,
// if -free names one.
func (s settings) besideFree(all []lane.Speed) error {
	if s.free == "" {
		return nil
	}
	cmd := exec.Command(s.free, "-bench", "-json")
	cmd.Env = append(os.Environ(), "EVENTIDE_LANE_BUDGET="+(shortLook*time.Duration(len(all))).String()) // instead of the longer budget of this process
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("-free is %q, want a binary of the lane without the overlay: %w", s.free, err)
	}
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		var free lane.Speed
		switch err := lines.Decode(&free); {
		case err == io.EOF:
			return nil
		case err != nil || free.Free == 0:
			return fmt.Errorf("-free is %q, and it prints %q, want runs per second", s.free, out)
		}
		for i := range all {
			if all[i].Program == free.Program {
				all[i].Free = free.Free
			}
		}
	}
}

// benchmark is -bench: each strategy on each of the programs. In a binary without the
// overlay there is no scheduler, so it measures the programs alone.
func (s settings) benchmark() int {
	names := inprocess.Names()
	if s.strategy != "" {
		names = []string{s.strategy}
	}
	programs := speedPrograms()
	if !controlled() {
		for _, sc := range programs {
			speed := measureFree(sc, s.budget/time.Duration(len(programs)))
			if !s.json {
				fmt.Fprintln(s.out, speed)
			} else if err := json.NewEncoder(s.out).Encode(speed); err != nil {
				return exitUsage
			}
		}
		return exitClean
	}
	for _, name := range names {
		for _, sc := range programs {
			st, err := newStrategy(name, s.seed)
			if err != nil {
				fmt.Fprintln(s.err, "lane:", err)
				return exitUsage
			}
			fmt.Fprintf(s.out, "%-9s %v\n", name, measure(sc, st, s.budget/time.Duration(len(names)*len(programs))))
		}
	}
	return exitClean
}

// controlled reports whether the operations of core in this binary are scheduled.
func controlled() bool {
	if !inprocess.Controlled() {
		return false
	}
	steps := func(body func()) int {
		st := inprocess.NewReplay(nil)
		st.Begin()
		return inprocess.Run(st, inprocess.Options{}, body).Steps
	}
	return steps(func() {
		if ex, err := core.NewExecutor(); err == nil {
			ex.State()
		}
	}) > steps(func() {})
}
