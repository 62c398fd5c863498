package driver

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// huntBudget is the budget of Hunt if the options name none.
const huntBudget = time.Minute

// Hunt searches until each test has one finding or the budget ends, and writes a
// regression file for each finding into the package's testdata/interleave. If the
// options name no clock and nothing is found, a second search with -time mixed lets
// timers expire early.
func Hunt(o Options) (int, error) {
	o.Write, o.FailFast, o.hunting = true, true, true
	if o.Budget == 0 && o.Schedules == 0 && o.Exhaust < 0 {
		o.Budget = huntBudget
	}
	second := o.Time == "" && o.Exhaust < 0
	if second {
		o.Budget /= 2
	}
	code, err := Test(o)
	if worst(code, ExitUndecided) != ExitUndecided || err != nil || !second || o.JSON {
		return code, err
	}
	fmt.Fprintf(o.Stdout, "nothing found while time moves only when no goroutine can run; searching with -time mixed\n")
	o.Time = "mixed"
	again, err := Test(o)
	return worst(code, again), err
}

// ReplayFile repeats the finding of a replay file in a fresh process, and prints its
// page. The exit code is ExitFinding for a finding that was reproduced, ExitNothing for
// one that was not, and ExitUndecided for a file that no longer applies.
func ReplayFile(o Options, name string) (int, error) {
	r, err := ReadReplay(name)
	if err != nil {
		return ExitInput, err
	}
	o.Patterns = []string{r.Package}
	o.Race, o.Short, o.Tags, o.Args, o.Exhaust = r.Race, r.Short, r.Tags, r.Args, -1
	o.Write = false
	if o.Dir == "" {
		o.Dir = packageDir(name)
	}
	s, err := newSession(&o)
	if err != nil {
		return ExitInput, err
	}
	pkgs, err := plan(s.builder.tool, &o)
	if err != nil {
		return ExitInput, err
	}
	p := pkgs[0]
	if err := s.builder.compile(p); err != nil {
		return ExitInput, fmt.Errorf("%s: %w", p.ImportPath, err)
	}
	switch _, err := s.builder.list(p, runPattern{}, nil); {
	case errors.Is(err, errEnded):
		return ExitUndecided, fmt.Errorf("%s: %w", p.ImportPath, err)
	case err != nil:
		return ExitInput, err
	}
	one, err := s.builder.replay(p, name, r)
	if err != nil {
		return ExitInput, err
	}
	fmt.Fprintf(o.Stdout, "%s: %s: %s\n", name, one.outcome, one.why)
	if one.found != nil {
		one.found.file = name
		x := &search{pkg: p, test: test{r.Test, r.Pattern}, opts: &o}
		if o.HTML != "" {
			if one.found.html, err = x.writeHTML(one.found); err != nil {
				return ExitInput, err
			}
		}
		fmt.Fprintf(o.Stdout, "\n%s\n", x.pageOf(one.found))
	}
	return exitOf(one.outcome), nil
}

// packageDir is the directory of the package that a regression file belongs to; "" for
// a file elsewhere: the go command then finds the package from the current directory.
func packageDir(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return ""
	}
	if dir, ok := strings.CutSuffix(filepath.ToSlash(filepath.Dir(abs)), "/"+regressionDir); ok {
		return dir
	}
	return ""
}
