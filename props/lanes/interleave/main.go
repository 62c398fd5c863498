package interleave

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"eventide/internal/command"
	"eventide/internal/shard"
	"eventide/props"
	"eventide/props/interleave/inprocess"
)

// settings are the command line of the lane.
type settings struct {
	budget          time.Duration
	seed            uint64
	only            string // guarantee
	lean            string // guarantee
	cases           string // directory for failures
	scenario        string
	strategy        string
	n               int
	exhaust         int
	exhaustShutdown int    // of pairs with a shutdown call, if that is more
	record          string // file
	first           int    // bound of what is exhausted before the exploration
	rounds          int
	part            string // file
	lines           time.Duration
	shard           shard.Shard
	bench           bool
	json            bool   // of bench, in a binary without the overlay
	free            string // binary without the overlay, to measure for comparison
	replay          string
	html            string // file
	keep            bool
	quick           bool
	profile         string
	out, err        io.Writer
}

// Exit codes of Main.
const (
	exitClean         = 0
	exitFound         = 1
	exitUsage         = 2
	exitNotRun        = 3
	exitNotReproduced = 4
	exitNoLonger      = 5
)

// Main runs the lane. It reads the same environment variables as the other lanes:
// EVENTIDE_LANE_BUDGET, EVENTIDE_LANE_ONLY, EVENTIDE_LANE_SEED and EVENTIDE_CASES, and
// the share of the work, see package shard. The flags -test.run and -test.timeout are
// accepted and have no effect, so that every runner of lanes can run this one.
//
// Exit code 0: nothing found, or a case reproduced; 1: a guarantee broken; 2: usage;
// 3: the self-check failed, so nothing was shown; 4: a case was not reproduced; 5: a
// case does not apply any more.
func Main(args []string, out, errs io.Writer) int {
	s, err := parse(args, out, errs)
	if err != nil {
		return command.Refuse(errs, "lane", err)
	}
	runtime.GOMAXPROCS(1)  // one goroutine runs at a time: more threads would only cost hand-offs
	debug.SetGCPercent(-1) // package inprocess collects between two schedules
	if s.bench && !controlled() {
		return s.benchmark()
	}
	if err := SelfCheck(s.seed); err != nil {
		fmt.Fprintln(errs, "lane:", err)
		return exitNotRun
	}
	if s.profile != "" {
		stop, err := profile(s.profile)
		if err != nil {
			fmt.Fprintln(errs, "lane:", err)
			return exitUsage
		}
		defer stop()
	}
	switch {
	case s.replay != "":
		return s.replayCase()
	case s.bench:
		return s.benchmark()
	case s.exhaust >= 0:
		return s.exhaustPairs()
	}
	return s.explore()
}

func parse(args []string, out, errs io.Writer) (settings, error) {
	s := settings{out: out, err: errs, only: os.Getenv("EVENTIDE_LANE_ONLY"), cases: os.Getenv("EVENTIDE_CASES")}
	f := flag.NewFlagSet("lane", flag.ContinueOnError)
	f.DurationVar(&s.budget, "budget", 10*time.Second, "how long to look")
	f.Uint64Var(&s.seed, "seed", 1, "base of the seeds")
	f.StringVar(&s.only, "only", s.only, "one guarantee")
	f.StringVar(&s.lean, "lean", "", "a guarantee that generated programs lean towards; a breach of any guarantee counts")
	f.StringVar(&s.cases, "cases", s.cases, "where failing cases are kept")
	f.StringVar(&s.scenario, "scenario", "", "one scenario, by its name")
	f.StringVar(&s.strategy, "strategy", "", "one strategy, by its name")
	f.IntVar(&s.n, "n", 0, "schedules of each scenario in one round; 0: a default for each kind")
	f.IntVar(&s.exhaust, "exhaust", -1, "go through all pairs of calls, up to so many preemptions")
	f.IntVar(&s.exhaustShutdown, "exhaust-shutdown", -1, "with -exhaust: the bound for pairs with a shutdown call, if it is higher")
	f.StringVar(&s.record, "record", "", "with -exhaust: file for the counts; scenarios in it are not exhausted again")
	f.IntVar(&s.first, "first", 2, "before exploring, exhaust up to so many preemptions for a quarter of the budget; -1: do not")
	f.IntVar(&s.rounds, "rounds", 0, "instead of a budget: visit each scenario so many times")
	f.StringVar(&s.part, "part", "", "file for the state of this shard, for merge; if it exists, continue from it")
	f.DurationVar(&s.lines, "lines", betweenLines, "time between two lines of JSON, at each of which the state is written to -part")
	f.BoolVar(&s.bench, "bench", false, "measure the scheduler")
	f.BoolVar(&s.json, "json", false, "with -bench, in a binary without the overlay: lines of JSON")
	f.StringVar(&s.free, "free", "", "binary of the lane without the overlay, whose speed is printed for comparison")
	f.StringVar(&s.replay, "case", "", "case file to run again")
	f.BoolVar(&s.keep, "keep", false, "after a failure continue with the next scenario")
	f.BoolVar(&s.quick, "quick", false, "do not minimise failures")
	f.StringVar(&s.html, "html", "", "file for the timeline of the failure, or of one schedule if there is none")
	f.StringVar(&s.profile, "cpuprofile", "", "where to write a profile")
	f.String("test.run", "", "accepted, no meaning")
	f.String("test.timeout", "", "accepted, no meaning")
	if err := command.Parse(f, args, errs, s.check); err != nil {
		return s, err
	}
	if (s.record != "" || s.exhaustShutdown >= 0) && s.exhaust < 0 {
		return s, errors.New("-record and -exhaust-shutdown want -exhaust with them")
	}
	var err error
	if s.shard, err = shard.FromEnv(os.Getenv); err != nil {
		return s, err
	}
	if s.part == "" && s.shard.Of > 1 {
		s.part = filepath.Join("out", fmt.Sprintf("interleave-%d-of-%d.json", s.shard.Index, s.shard.Of))
	}
	if v := os.Getenv("EVENTIDE_LANE_BUDGET"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			return s, fmt.Errorf("EVENTIDE_LANE_BUDGET: %w", err)
		}
		if err := command.Positive("EVENTIDE_LANE_BUDGET", d); err != nil {
			return s, err
		}
		s.budget = d
	}
	if v := os.Getenv("EVENTIDE_LANE_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			return s, fmt.Errorf("EVENTIDE_LANE_SEED: %w", err)
		}
		s.seed = n
	}
	return s, nil
}

// check returns an error for values that have no meaning.
func (s *settings) check() error {
	for name, id := range map[string]string{"-only or EVENTIDE_LANE_ONLY": s.only, "-lean": s.lean} {
		if _, known := props.Lookup(id); id != "" && !known {
			return fmt.Errorf("%s is %q, want a guarantee such as G3", name, id)
		}
	}
	if s.strategy != "" {
		if _, err := newStrategy(s.strategy, 1); err != nil {
			return fmt.Errorf("-strategy is %q, want exhaustive or one of %s", s.strategy, strings.Join(inprocess.Names(), ", "))
		}
	}
	if s.scenario != "" {
		if _, err := find(s.scenario); err != nil {
			return fmt.Errorf("-scenario: %w", err)
		}
	}
	return errors.Join(command.Positive("-budget", s.budget), command.AtLeast("-n", s.n, 0), command.AtLeast("-rounds", s.rounds, 0),
		command.AtLeast("-exhaust", s.exhaust, -1), command.AtLeast("-exhaust-shutdown", s.exhaustShutdown, -1), command.AtLeast("-first", s.first, -1))
}

// CheckArgs returns an error if Main would refuse args or the environment before it
// runs anything. If args ask for help, it prints the help and returns flag.ErrHelp.
func CheckArgs(args []string, errs io.Writer) error {
	_, err := parse(args, io.Discard, errs)
	return err
}

// named returns the scenarios that have a name and of which a round visits each. With -lean the
// lane visits the scenarios that were made for the guarantee in this order.
func named() []Scenario {
	return slices.Concat(Sleeping(), Pairs(false), Pairs(true), LoopPairs(), Groups(), Focused())
}

// find returns the scenario of a name, also a generated program by the name that its report has.
func find(name string) (Scenario, error) {
	for _, sc := range slices.Concat(named(), seldom(), Bare()) {
		if sc.Name == name {
			return sc, nil
		}
	}
	id, number, _ := strings.Cut(strings.TrimPrefix(name, "generated "), "/")
	seed, err := strconv.Atoi(number)
	if _, known := props.Lookup(id); known && err == nil {
		if sc := Generated(id, seed); sc.Name == name {
			return sc, nil
		}
	}
	return Scenario{}, fmt.Errorf("there is no scenario %q", name)
}

func profile(path string) (stop func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}
