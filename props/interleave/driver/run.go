package driver

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Exit codes of the command.
const (
	ExitNothing   = 0 // no schedule showed a failure
	ExitFinding   = 1 // a test failed, on a schedule or without control
	ExitInput     = 2 // bad input, or a package that does not build
	ExitUndecided = 3 // no finding, but a test was not explored, or the self-check failed
)

// A session is one run of the command.
type session struct {
	opts    *Options
	builder *builder
	sink    *sink
	state   *state // nil if Options.State names none
	pkgs    []*pkgRun

	mu   sync.Mutex
	code int
}

// A pkgRun is one package of a session.
type pkgRun struct {
	*pkg
	others    []string // examples, fuzz tests and benchmarks
	plain     *plainResult
	failed    error // it cannot be built or listed
	results   []*testResult
	replays   []*replayed
	began     time.Time
	schedules uint64
	findings  int
}

// Test explores the tests of the packages, and returns the exit code of the command.
// With Options.State it keeps what is done in that file: tests whose binary, testdata and
// options have not changed since are not explored again, and a search that was cut off
// continues where it stopped. An error is bad input, or a failure of the tool itself.
func Test(o Options) (int, error) {
	s, err := newSession(&o)
	if err != nil {
		return ExitInput, err
	}
	if o.State != "" {
		if s.state, err = openState(o.State, o.Shard); err != nil {
			return ExitInput, err
		}
	}
	if err := o.canWrite(); err != nil {
		return ExitInput, err
	}
	trimCache(time.Now())
	switch err := s.selfCheck(); {
	case errors.Is(err, ErrInput):
		return ExitInput, err
	case err != nil:
		return ExitUndecided, err
	}
	if err := s.prepare(); err != nil {
		return ExitInput, err
	}
	switch err := s.explore(); {
	case errors.Is(err, ErrInput):
		return ExitInput, err
	case err != nil:
		return ExitUndecided, err
	}
	if o.JUnit != "" {
		if err := s.sink.writeJUnit(o.JUnit); err != nil {
			return ExitInput, err
		}
	}
	return s.code, nil
}

// newSession checks the options, finds the toolchain and makes the overlay.
func newSession(o *Options) (*session, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	tool, err := findToolchain(o.Dir)
	if err != nil {
		return nil, err
	}
	prefix := tool.Root + "/src/"
	underRoot.Store(&prefix)
	b, err := newBuilder(tool, o)
	if err != nil {
		return nil, err
	}
	return &session{opts: o, builder: b, sink: &sink{out: o.Stdout, json: o.JSON, verbose: o.Verbose}}, nil
}

// prepare finds and compiles the packages, and lists their tests.
func (s *session) prepare() error {
	run, err := parsePattern("-run", s.opts.Run)
	if err != nil {
		return err
	}
	var skip runPattern
	if s.opts.Skip != "" {
		if skip, err = parsePattern("-skip", s.opts.Skip); err != nil {
			return err
		}
	}
	pkgs, err := plan(s.builder.tool, s.opts)
	if err != nil {
		return err
	}
	matched := 0
	for _, p := range pkgs {
		r := &pkgRun{pkg: p}
		s.pkgs = append(s.pkgs, r)
		if !p.hasTests() {
			continue
		}
		if r.failed = refuseCgo(s.builder.tool, s.opts, p); r.failed != nil {
			continue
		}
		if r.failed = s.builder.compile(p); r.failed != nil {
			continue
		}
		r.others, r.failed = s.builder.list(p, run, skip)
		matched += len(p.tests)
	}
	if matched > 0 {
		return nil
	}
	for _, r := range s.pkgs {
		if r.failed != nil {
			return nil // the failure is the result
		}
	}
	return s.nothingMatched()
}

func (s *session) nothingMatched() error {
	for _, r := range s.pkgs {
		if len(r.others) > 0 {
			return inputError("no tests match: examples, fuzz tests and benchmarks (%s) do not run under control", r.others[0])
		}
	}
	if s.opts.Run == "" {
		return inputError("no tests in %s", s.pkgs[0].ImportPath)
	}
	return inputError("no tests match -run %s", s.opts.Run)
}

// explore runs the packages one after the other, each package's tests side by side.
func (s *session) explore() error {
	tests := 0
	for _, r := range s.pkgs {
		tests += len(r.tests) * s.opts.Count
	}
	left := &budget{total: s.opts.Budget, tests: tests, workers: s.opts.Processes}
	for _, r := range s.pkgs {
		if err := s.explorePackage(r, left); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) explorePackage(r *pkgRun, left *budget) error {
	r.began = time.Now()
	out := &suite{name: r.ImportPath, result: "pass"}
	switch {
	case !r.hasTests():
		out.result, out.tail = "skip", "[no test files]"
	case errors.Is(r.failed, errEnded):
		s.reportPackage(r)
		out.result, out.tail = "skip", fmt.Sprintf("[%v]", errEnded)
		s.worse(ExitUndecided)
	case r.failed != nil:
		s.reportPackage(r)
		out.result = "fail"
		out.text = append(out.text, r.failed.Error())
		out.tail = "[cannot be listed]"
		if errors.Is(r.failed, errBuild) {
			out.tail = "[build failed]"
		}
		s.worse(ExitInput)
	case len(r.tests) == 0:
		var err error
		if r.replays, err = s.replayAll(r.pkg); err != nil {
			return fmt.Errorf("%s: %w", r.ImportPath, err)
		}
		s.introduce(r, out)
		out.tail = "[no tests to run]"
	default:
		if err := s.testPackage(r, out, left); err != nil {
			return fmt.Errorf("%s: %w", r.ImportPath, err)
		}
	}
	out.took = time.Since(r.began)
	s.sink.put(out)
	return nil
}

// testPackage replays the regression files of r, runs its tests without control, and
// searches.
func (s *session) testPackage(r *pkgRun, out *suite, left *budget) error {
	var err error
	if r.replays, err = s.replayAll(r.pkg); err != nil {
		return err
	}
	if s.state != nil {
		if r.content, err = r.contentHash(); err != nil {
			return err
		}
		if r.results = s.known(r); r.results != nil {
			for range r.results {
				left.unused(left.share())
			}
			s.introduce(r, out)
			out.tests = append(out.tests, r.results...)
			s.summarise(r, out)
			return nil
		}
	}
	until := r.began.Add(s.opts.Timeout)
	left.spend(time.Since(r.began))
	if r.plain, err = s.opts.plain(r.pkg, left.plain(len(r.tests)*s.opts.Count)); err != nil {
		return err
	}
	left.spend(r.plain.took)
	s.introduce(r, out)
	var wg sync.WaitGroup
	var showing sync.Mutex
	slots := make(chan struct{}, s.opts.Processes)
	r.results = make([]*testResult, len(r.tests)*s.opts.Count)
	errs := make([]error, len(r.results))
	next := 0
	ended := func(i int, result *testResult, err error) { // shows the tests in their order
		showing.Lock()
		defer showing.Unlock()
		r.results[i], errs[i] = result, err
		for ; next < len(r.results) && r.results[next] != nil; next++ {
			out.tests = append(out.tests, r.results[next])
		}
		s.sink.show(out)
	}
	for i := range r.results {
		t, round := r.tests[i%len(r.tests)], uint64(i/len(r.tests))
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			result, err := s.exploreTest(r, t, round, left, until)
			ended(i, result, err)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	s.summarise(r, out)
	return nil
}

// worse keeps the more serious exit code.
func (s *session) worse(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code = worst(s.code, code)
}

// worst is the more serious of two exit codes: bad input is worse than a finding, and a
// finding is worse than an undecided test.
func worst(a, b int) int {
	rank := map[int]int{ExitNothing: 0, ExitUndecided: 1, ExitFinding: 2, ExitInput: 3}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
