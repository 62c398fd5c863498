package driver

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"sort"

	"eventide/props/interleave/protocol"
)

// An Outcome is the result of running a replay file.
type Outcome int

const (
	Reproduced    Outcome = iota // the verdict and the message of the file
	NotReproduced                // the schedule ran, and its test passed
	NotApplicable                // the schedule cannot be run any more
)

func (o Outcome) String() string {
	return [...]string{"reproduced", "not reproduced", "no longer applies"}[o]
}

func shortHash(text string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:8]
}

// A replayed is a replay file after its run.
type replayed struct {
	file    string
	replay  *Replay
	outcome Outcome
	why     string // the outcome in a sentence
	found   *found // of an outcome Reproduced
}

// replay runs one replay file. The package is compiled as the file asks for.
func (b *builder) replay(p *pkg, file string, r *Replay) (*replayed, error) {
	out := &replayed{file: file, replay: r, outcome: NotApplicable}
	if !hasTest(p, r.Test) {
		out.why = fmt.Sprintf("%s has no test %s any more", p.ImportPath, r.Test)
		return out, nil
	}
	opts := *b.opts
	opts.Race, opts.Short, opts.Tags, opts.Args = r.Race, r.Short, r.Tags, r.Args
	s := &search{pkg: p, test: test{r.Test, r.Pattern}, opts: &opts, seed: r.Request.Seed}
	request := r.Request
	request.Detail = 1
	e, err := s.once(request, r.Count)
	if err != nil {
		return nil, err
	}
	want, without := cause{Verdict: r.Verdict, Message: r.Message}, ""
	if warmUpFails(e, want) {
		without = fmt.Sprintf(", in a process without a warm-up: the default schedule fails (%s)", e.cause().short())
		request.Cold = true
		if e, err = s.once(request, r.Count); err != nil {
			return nil, err
		}
	}
	if e.finding == nil {
		err := b.explain(out, p, e)
		out.why += without
		return out, err
	}
	c := e.cause()
	if r.Count == 1 {
		if traced, err := s.traced(request, 1, c); err != nil {
			return nil, err
		} else if traced.same(c) {
			e = traced
		}
	}
	f := &found{cause: c, first: e.finding, times: 1, repeat: request, replay: e.finding, ops: e.ops, born: e.born, printed: e.output,
		prefix: r.Count - 1, timing: r.Timing, file: file, original: len(r.Request.Switches)}
	switch {
	case r.Count > 1:
		f.state = repeatsByPrefix
	case r.Request.Strategy != protocol.StrategyReplay:
		f.state = repeatsBySeed
	}
	out.outcome, out.found = Reproduced, f
	out.why = "the verdict and the message of the file"
	if !c.like(want) {
		out.why = fmt.Sprintf("the schedule fails in another way: %s instead of %s", c.short(), want.short())
	}
	out.why += without
	return out, nil
}

// warmUpFails says whether the process ended in its warm-up, before its schedules, with
// a failure other than the wanted one.
func warmUpFails(e *ending, want cause) bool {
	return e.finding != nil && e.finding.Warm && !e.cause().like(want)
}

// explain says why a replay passed.
func (b *builder) explain(out *replayed, p *pkg, e *ending) error {
	r := out.replay
	sources, err := p.sourceHash()
	if err != nil {
		return err
	}
	changed := ""
	switch {
	case r.Release != b.tool.Version:
		changed = fmt.Sprintf("it was recorded with %s, and this is %s", r.Release, b.tool.Version)
	case r.Overlay != b.hash:
		changed = "it was recorded with another version of this tool"
	case r.Sources != sources:
		changed = "the package's sources have changed"
	}
	unused := e.unused
	switch {
	case unused > 0 && changed != "":
		out.why = fmt.Sprintf("%d of %d switches were not met: %s", unused, len(r.Request.Switches), changed)
	case changed != "":
		out.outcome, out.why = NotReproduced, "the test passes on this schedule; "+changed
	case unused > 0:
		out.outcome, out.why = NotReproduced, fmt.Sprintf("%d of %d switches were not met, although nothing has changed: the test depends on more than its schedule", unused, len(r.Request.Switches))
	default:
		out.outcome, out.why = NotReproduced, "the test passes on this schedule, although nothing has changed: the test depends on more than its schedule"
	}
	return nil
}

func hasTest(p *pkg, name string) bool {
	for _, t := range p.all {
		if t == name {
			return true
		}
	}
	return false
}

// regressionFiles returns the names of the replay files of p.
func (p *pkg) regressionFiles() ([]string, error) {
	names, err := filepath.Glob(filepath.Join(p.Dir, regressionDir, "*.replay"))
	sort.Strings(names)
	return names, err
}
