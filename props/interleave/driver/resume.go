package driver

import (
	"fmt"
	"strings"
)

// resume gives x the kept state of its test, and makes x keep its state from now on. It
// returns the kept test if nothing is left to do.
func (s *session) resume(x *search) *keptTest {
	if s.state == nil {
		return nil
	}
	key := stateKey(x.pkg.ImportPath, x.test.Name, x.seed-s.opts.Seed)
	hash := s.opts.searchHash(x.pkg.content, x.test, x.seed)
	if k := s.state.get(key, hash); k != nil {
		if k.Done {
			return k
		}
		x.next, x.leaks, x.cold, x.alone, x.spent, x.covered = k.Next, k.Leaks, k.Cold, k.Alone, k.Spent, k.Coverage
		x.coldUndecided = k.ColdUndecided
		for _, f := range k.Findings {
			x.found = append(x.found, &found{cause: f.Cause, times: f.Finding.Times, kept: &f, file: f.Finding.Replay})
		}
	}
	x.progress = func(x *search) error {
		k, err := s.kept(x, hash)
		if err != nil {
			return err
		}
		return s.state.put(key, k)
	}
	return nil
}

// kept is the state of a search between two processes.
func (s *session) kept(x *search, hash string) (*keptTest, error) {
	k := &keptTest{Package: x.pkg.ImportPath, Test: x.test.Name, Hash: hash, Next: x.next, Leaks: x.leaks, Cold: x.cold, ColdUndecided: x.coldUndecided, Alone: x.alone, About: x.about,
		Spent: x.spent, Coverage: x.covered, Stopped: x.stopped, Exhaust: s.opts.Exhaust}
	for _, f := range x.found {
		if f.kept == nil {
			if err := s.keep(x, f); err != nil {
				return nil, err
			}
		}
		k.Findings = append(k.Findings, keptFinding{Cause: f.cause, Finding: f.report(), Page: x.pageOf(f)})
	}
	return k, nil
}

// finish keeps the result of a test whose search has ended.
func (s *session) finish(x *search, out *testResult, code int) error {
	if s.state == nil {
		return nil
	}
	k, err := s.kept(x, s.opts.searchHash(x.pkg.content, x.test, x.seed))
	if err != nil {
		return err
	}
	k.Done, k.Result, k.Code, k.Notice, k.Took = x.stopped != stoppedByTimeout, out.result, code, out.notice, out.took
	return s.state.put(stateKey(x.pkg.ImportPath, x.test.Name, x.seed-s.opts.Seed), k)
}

// known returns the results of a package if each of its tests is done.
func (s *session) known(r *pkgRun) []*testResult {
	if s.state == nil {
		return nil
	}
	var kept []*keptTest
	for round := range uint64(s.opts.Count) {
		for _, t := range r.tests {
			k := s.state.get(stateKey(r.ImportPath, t.Name, round), s.opts.searchHash(r.content, t, s.opts.Seed+round))
			if k == nil || !k.Done {
				return nil
			}
			kept = append(kept, k)
		}
	}
	var all []*testResult
	for _, k := range kept {
		all = append(all, s.again(r, k))
	}
	return all
}

// again is the result of a test that is done.
func (s *session) again(r *pkgRun, k *keptTest) *testResult {
	s.countAll(r, k.Coverage.Schedules, len(k.Findings), k.Code)
	return k.result(s.opts, fmt.Sprintf("kept in %s: the binary, testdata and options have not changed", s.opts.State))
}

// elsewhere says whether a search that cannot be divided belongs to another shard.
func (s *session) elsewhere(x *search) bool {
	return s.opts.Exhaust >= 0 && !s.opts.Shard.Has(x.seed, x.pkg.ImportPath+"."+x.test.Name, 0)
}

// result is the result of a test that is done.
func (k *keptTest) result(o *Options, origin string) *testResult {
	x := &search{opts: o, covered: k.Coverage, spent: k.Spent, stopped: k.Stopped}
	var text []string
	if k.About != "" {
		text = append(text, k.About)
	}
	for i, f := range k.Findings {
		text = append(text, findingTitle(i, len(k.Findings))+f.Page)
	}
	if k.Coverage.Schedules > 0 {
		text = append(text, strings.Join(k.Coverage.lines(x), "\n"))
	}
	text = append(text, origin)
	return &testResult{name: k.Test, result: k.Result, took: k.Took, text: strings.Join(text, "\n\n"), notice: k.Notice}
}

func findingTitle(i, n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("finding %d of %d\n", i+1, n)
}
