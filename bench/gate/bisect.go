package gate

import (
	"context"
	"fmt"
	"math"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// A side says whether a commit is like base or like head.
type side int

const (
	undecided side = iota
	likeBase
	likeHead
)

func (s side) String() string {
	return [...]string{"neither like base nor like head", "like base", "like head"}[s]
}

// search returns the last commit that is like base and the first that is like head: of n, those at -1 and n are base and
// head. It stops at a commit that is undecided, so there may be others between the two.
func search(n int, at func(commit int) (side, error)) (good, bad int, err error) {
	good, bad = -1, n
	for bad-good > 1 {
		middle := (good + bad) / 2
		is, err := at(middle)
		switch {
		case err != nil || is == undecided:
			return good, bad, err
		case is == likeHead:
			bad = middle
		default:
			good = middle
		}
	}
	return good, bad, nil
}

// A bisection searches for the commit that changed one figure.
type bisection struct {
	*gate
	target    *target
	benchmark benchmark
	finding   Finding
	base      []measure.Binary  // one for each layout
	known     map[[32]byte]side // of programs, by fingerprint
}

// bisect says since which commit after base the figure is nearer to head's than to base's, or between which commits
// that happened, if one between them is undecided or does not run.
//
// A commit with the same program as another is not measured: it is like the other. Otherwise noise could put the
// blame on a commit that changes a comment.
func (g *gate) bisect(ctx context.Context, t *target, b benchmark, f Finding) (since string, err error) {
	commits, err := g.Commits(ctx)
	if err != nil {
		return "", err
	}
	x := &bisection{gate: g, target: t, benchmark: b, finding: f, known: map[[32]byte]side{}}
	if err := x.begin(ctx); err != nil {
		return "", err
	}
	good, bad, err := search(len(commits), func(middle int) (side, error) {
		if err := g.Move(ctx, commits[middle]); err != nil {
			return undecided, err
		}
		is, err := x.at(ctx)
		x.say("%s: %s", commits[middle], is)
		return is, err
	})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	name := func(i int) string {
		switch i {
		case -1:
			return "base"
		case len(commits):
			return "the working tree"
		}
		return commits[i]
	}
	switch {
	case err != nil:
		return fmt.Sprintf("after %s, up to %s (a commit between them does not run: %v)", name(good), name(bad), err), nil
	case bad-good > 1:
		return fmt.Sprintf("after %s, up to %s (a commit between them is neither like base nor like head)", name(good), name(bad)), nil
	}
	return "since " + name(bad), nil
}

// begin records base and head, and links the layouts of base while it is checked out.
func (x *bisection) begin(ctx context.Context) error {
	for is, side := range map[side]measure.Binary{likeBase: x.target.base, likeHead: x.target.head} {
		print, err := measure.Fingerprint(side)
		if err != nil {
			return err
		}
		x.known[print] = is
	}
	if x.counted() {
		return nil
	}
	l, err := x.layoutsOf(ctx)
	x.base = l
	return err
}

func (x *bisection) counted() bool {
	_, is := tolerances[x.finding.Figure]
	return is
}

// layoutsOf links the layouts of what is checked out.
func (x *bisection) layoutsOf(ctx context.Context) (all []measure.Binary, err error) {
	for k := range x.Layouts {
		layout := 1 + k
		if x.Layouts == 1 {
			layout = 0
		}
		b, err := x.Build(ctx, x.Old, x.target.pkg, layout)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// at says which side the commit in the worktree is like.
func (x *bisection) at(ctx context.Context) (side, error) {
	b, err := x.Build(ctx, x.Old, x.target.pkg, 0)
	if err != nil {
		return undecided, err
	}
	print, err := measure.Fingerprint(b)
	if err != nil {
		return undecided, err
	}
	if is, known := x.known[print]; known {
		x.say("the gate has already measured this program")
		return is, nil
	}
	if x.counted() {
		x.known[print], err = x.count(ctx, b)
	} else {
		x.known[print], err = x.time(ctx)
	}
	return x.known[print], err
}

// count compares a count with the middle between base's and head's.
func (x *bisection) count(ctx context.Context, b measure.Binary) (side, error) {
	found, err := x.counter.compare(ctx, x.target.pkg.ImportPath, x.benchmark.name, x.benchmark.ops, x.target.base, b)
	for _, other := range found {
		if other.Figure != x.finding.Figure {
			continue
		}
		if other.Head > (x.finding.Base+x.finding.Head)/2 {
			return likeHead, err
		}
		return likeBase, err
	}
	return undecided, err
}

// time measures rounds until the interval of the change excludes half of head's change, for as many as all stages have.
func (x *bisection) time(ctx context.Context) (side, error) {
	l, err := x.layoutsOf(ctx)
	if err != nil {
		return undecided, err
	}
	s := &series{target: x.target, benchmark: x.benchmark, rounds: map[string]*rounds{}, layouts: layouts{x.base, l}}
	for n := range stages * x.Rounds {
		if err := s.round(ctx, n); err != nil {
			return undecided, err
		}
		if (n+1)%x.Rounds != 0 {
			continue
		}
		r := s.rounds[x.finding.Figure]
		if r == nil {
			return undecided, fmt.Errorf("no %s", x.finding.Figure)
		}
		if is := nearer(r.against(), x.finding.Change); is != undecided {
			return is, nil
		}
	}
	return undecided, nil
}

// nearer says on which side of half the change of head a sample lies, if its interval excludes the other.
func nearer(against stats.Sample, change float64) side {
	low, high := against.Interval(0.95)
	switch half := math.Log1p(change) / 2; {
	case low > half:
		return likeHead
	case high < half:
		return likeBase
	}
	return undecided
}
