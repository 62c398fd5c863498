package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// exploreTest searches the schedules of one test, and returns its result. Round r of
// -count has a seed of its own.
func (s *session) exploreTest(r *pkgRun, t test, round uint64, left *budget, until time.Time) (*testResult, error) {
	out := &testResult{name: t.Name, result: "pass"}
	x := &search{pkg: r.pkg, leaks: s.opts.Leaks, test: t, opts: s.opts, seed: s.opts.Seed + round, until: until}
	plain := r.plain
	if state := plain.state(t.Name); state == plainSkipped {
		out.result, out.text = "skip", "it skips itself: its schedules were not explored"
		left.share()
		x.stopped, x.about = "skips itself", out.text
		s.report(r, x, state, out)
		return out, s.finish(x, out, ExitNothing)
	}
	begin := time.Now()
	x.limit, x.budget = s.limits(left)
	x.limit = x.share(x.limit)
	switch done := s.resume(x); {
	case done != nil:
		left.unused(x.budget)
		return s.again(r, done), nil
	case s.elsewhere(x):
		left.unused(x.budget)
		out.result, out.text = "skip", "a complete search is not divided: it is explored in another shard"
		x.about = out.text
		return out, s.finish(x, out, ExitNothing)
	}
	if plain.interrupted(t.Name) && !plain.alone {
		var err error
		if plain, err = s.opts.plainRun(r.pkg, t.Pattern, 2, x.alonePlain()); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		x.confirming += plain.took
	}
	if plain.interrupted(t.Name) {
		x.plainCut = plain.cut
	}
	state := plain.state(t.Name)
	if state == plainFailed {
		x.about = "fails without control too: " + plain.about(t.Name)
	}
	x.fresh = s.opts.Fresh || state == plainOnce
	if err := x.run(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	left.unused(x.spare())
	out.took = time.Since(begin)
	var text []string
	switch {
	case x.about != "":
		out.result = "fail"
		text = append(text, x.about)
	case x.alone != "":
		text = append(text, "fails without control too if it runs alone, and not after the other tests: "+x.alone)
	}
	if len(x.found) > 0 {
		out.result = "fail"
	}
	for i, f := range x.found {
		if err := s.keep(x, f); err != nil {
			return nil, err
		}
		if s.opts.HTML != "" && f.kept == nil {
			name, err := x.writeHTML(f)
			if err != nil {
				return nil, err
			}
			f.html = relative(name)
		}
		text = append(text, findingTitle(i, len(x.found))+x.pageOf(f))
	}
	text = append(text, strings.Join(x.covered.lines(x), "\n"))
	out.text = strings.Join(text, "\n\n")
	out.notice = strings.Join(s.notices(x), "\n")
	if x.undecided() && out.result == "pass" {
		out.result = "skip"
	}
	code := s.count(r, x, out)
	s.report(r, x, state, out)
	return out, s.finish(x, out, code)
}

// limits returns the number of schedules and the budget of one test's search.
func (s *session) limits(left *budget) (uint64, time.Duration) {
	limit, share := s.opts.Schedules, left.share()
	switch {
	case s.opts.Exhaust >= 0:
		return 0, share
	case limit == 0 && share == 0:
		return defaultSchedules, defaultBudget
	}
	return limit, share
}

// keep writes the replay file of a finding: below testdata if the options ask for it,
// otherwise into the cache.
func (s *session) keep(x *search, f *found) error {
	if f.state == repeatsNot || f.kept != nil {
		return nil
	}
	r, err := x.replayOf(f, s.builder)
	if err != nil {
		return err
	}
	dir := filepath.Join(x.pkg.Dir, regressionDir)
	if !s.opts.Write {
		if dir, err = cacheDir("replays"); err != nil {
			return err
		}
	}
	name, err := r.write(dir)
	if err != nil {
		return err
	}
	f.file = relative(name)
	return nil
}

// relative returns name relative to the current directory if that is shorter.
func relative(name string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, name); err == nil && len(rel) < len(name) {
			return rel
		}
	}
	return name
}

// undecided says whether the search shows nothing about the test.
func (s *search) undecided() bool {
	c := &s.covered
	return len(s.found) == 0 && (s.stopped == stoppedByTimeout || s.stopped == stoppedByClose || c.Schedules <= c.Undecided)
}

// notices list what was not controlled, and what the reader must know even about a test
// that passed. They are shown without -v too.
func (s *session) notices(x *search) []string {
	c := &x.covered
	var lines []string
	if x.fresh {
		lines = append(lines, "it cannot run twice in one process: each schedule had a process of its own")
	}
	if x.cold {
		why := "fails"
		if x.coldUndecided {
			why = "is undecided"
		}
		lines = append(lines, fmt.Sprintf("the default schedule %s, so processes have no warm-up: a schedule may see what an earlier one left behind", why))
	}
	if cut := x.plainCut; cut > 0 {
		lines = append(lines, fmt.Sprintf("it did not end within %v without control", cut))
	}
	if text := c.uncontrolled(x.pkg); text != "" {
		lines = append(lines, "not controlled: "+text)
	}
	if c.TooLarge > 0 {
		lines = append(lines, fmt.Sprintf("%s undecided: more operations than the limit of a schedule; one has at least %d, and -steps raises the limit", plural(int(c.TooLarge), "schedule", "schedules"), c.Needed))
	}
	if c.Horizon > 0 {
		lines = append(lines, fmt.Sprintf("%s undecided: virtual time ran out while the test waited", plural(int(c.Horizon), "schedule", "schedules")))
	}
	if c.Waited != "" {
		lines = append(lines, fmt.Sprintf("%s undecided: %s", plural(1, "schedule", "schedules"), c.Waited))
	}
	if x.stopped == stoppedByBudget {
		lines = append(lines, "undecided: "+x.stopped)
	}
	if x.stopped == stoppedByPattern {
		lines = append(lines, "not explored: "+x.stopped)
	}
	if x.stopped == stoppedByClose {
		lines = append(lines, "undecided: "+x.stopped)
	}
	if x.stopped == stoppedByTimeout {
		lines = append(lines, fmt.Sprintf("undecided: -timeout %v ended the search after %s", s.opts.Timeout, plural(int(c.Schedules), "schedule", "schedules")))
	}
	return lines
}

// count adds a search to the session's exit code and to the package, and returns the
// exit code of a run with this test alone.
func (s *session) count(r *pkgRun, x *search, out *testResult) int {
	code := ExitNothing
	switch {
	case out.result == "fail":
		code = ExitFinding
	case x.undecided():
		code = ExitUndecided
	}
	s.countAll(r, x.covered.Schedules, len(x.found), code)
	return code
}

func (s *session) countAll(r *pkgRun, schedules uint64, findings, code int) {
	s.worse(code)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.schedules += schedules
	r.findings += findings
}

// replayAll replays the regression files of p.
func (s *session) replayAll(p *pkg) ([]*replayed, error) {
	files, err := p.regressionFiles()
	if err != nil {
		return nil, err
	}
	var all []*replayed
	for _, file := range files {
		r, err := ReadReplay(file)
		if err != nil {
			return nil, err
		}
		if hasTest(p, r.Test) && !p.selects(r.Test) {
			continue
		}
		one, err := s.replayFile(p, file, r)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// replayFile compiles p as the file asks for, if that differs, and replays the file.
func (s *session) replayFile(p *pkg, file string, r *Replay) (*replayed, error) {
	b, q := s.builder, p
	if r.Race != s.opts.Race || r.Tags != s.opts.Tags {
		opts := *s.opts
		opts.Race, opts.Tags = r.Race, r.Tags
		variant, copied := *s.builder, *p
		variant.opts = &opts
		b, q = &variant, &copied
		if err := b.compile(q); err != nil {
			return nil, err
		}
	}
	return b.replay(q, file, r)
}

func (p *pkg) selects(name string) bool {
	for _, t := range p.tests {
		if t.Name == name {
			return true
		}
	}
	return false
}

// introduce begins the suite of a package with the outcomes of its replay files and the
// names of examples, fuzz tests and benchmarks, which are not explored.
func (s *session) introduce(r *pkgRun, out *suite) {
	for _, one := range r.replays {
		s.addReplay(r, out, one)
	}
	if len(r.others) > 0 {
		sort.Strings(r.others)
		out.text = append(out.text, fmt.Sprintf("not explored: %s (%s)", plural(len(r.others), "example, fuzz test or benchmark", "examples, fuzz tests and benchmarks"), strings.Join(r.others, ", ")))
	}
}

// summarise sets the result and the last line of a suite that has the results of all
// its tests.
func (s *session) summarise(r *pkgRun, out *suite) {
	for _, t := range out.tests {
		if t.result == "fail" {
			out.result = "fail"
		}
	}
	out.tail = fmt.Sprintf("%s, %s", plural(len(r.tests), "test", "tests"), plural(int(r.schedules), "schedule", "schedules"))
	if r.findings > 0 {
		out.tail += fmt.Sprintf(", %s", plural(r.findings, "finding", "findings"))
	}
}

// addReplay adds the outcome of a replay file to the suite. A finding that is
// reproduced is a failure, and a file that no longer applies leaves the run undecided.
func (s *session) addReplay(r *pkgRun, out *suite, one *replayed) {
	result := &testResult{name: one.replay.Test, result: "pass"}
	line := fmt.Sprintf("regression %s: %s: %s", filepath.Base(one.file), one.outcome, one.why)
	switch one.outcome {
	case Reproduced:
		result.result = "fail"
		x := &search{pkg: r.pkg, test: test{one.replay.Test, one.replay.Pattern}, opts: s.opts}
		one.found.file = relative(one.file)
		result.text = line + "\n" + x.pageOf(one.found)
		s.worse(ExitFinding)
	case NotReproduced:
		result.text = line
	case NotApplicable:
		result.result, result.notice = "skip", line
		s.worse(ExitUndecided)
	}
	out.tests = append(out.tests, result)
}

// exitOf is the exit code of a replay alone.
func exitOf(o Outcome) int {
	return map[Outcome]int{Reproduced: ExitFinding, NotReproduced: ExitNothing, NotApplicable: ExitUndecided}[o]
}
