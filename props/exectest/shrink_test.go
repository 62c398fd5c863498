package exectest

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"eventide/props/history"
	"eventide/props/internal/shrink"
)

// TestReductionsMakeSmaller: each reduction of a generated program makes it smaller, each is a
// different one, and the original is unchanged.
func TestReductionsMakeSmaller(t *testing.T) {
	for round := range 20 {
		p := racing(rand.New(rand.NewPCG(1, uint64(round))), round)
		p.actors[0][0].body.ends = history.Panicked
		p.actors[0][0].yields = 3
		before, seen, tried := p.String(), map[string]bool{}, 0
		shrink.Least(p, func(pick *shrink.Pick, p program) program { return p.reduced(pick) }, func(c program) bool {
			if weight(c) >= weight(p) {
				t.Errorf("a reduction of %v gives %v", p, c)
			}
			tried++
			seen[c.String()] = true
			return false
		})
		if tried == 0 || len(seen) != tried {
			t.Errorf("%d different programs from %d reductions of %v", len(seen), tried, p)
		}
		if p.String() != before {
			t.Errorf("the program was changed: %v, want %s", p, before)
		}
	}
}

// weight counts what can be taken from a program.
func weight(p program) (sum int) {
	p.each(func(s *step) {
		for _, has := range []bool{true, s.pause > 0, s.yields > 0, s.body.takes > 0, s.body.ends.Abrupt()} {
			if has {
				sum++
			}
		}
	})
	return sum
}

// TestShrinkFindsTheCore has a clause that is broken by any program with two
// tasks, and wants exactly those, and the shutdown, to be left.
func TestShrinkFindsTheCore(t *testing.T) {
	twoTasks := clause{name: "G0", extra: func(r run) []history.Violation {
		if r.history.Tally().Attempts < 2 {
			return nil
		}
		return []history.Violation{{Guarantee: "G0", Text: "two tasks"}}
	}}
	c := defaults()
	p := busy(rand.New(rand.NewPCG(1, 1)), 0)
	found := twoTasks.judge(&c, execute(newDropping, p, &c, false))
	if !found.breaks("G0") {
		t.Fatalf("%v does not break it", p)
	}
	small, _ := twoTasks.shrink("G0", newDropping, &c, p, found)
	var ops []history.Op
	small.each(func(s *step) { ops = append(ops, s.op) })
	slices.Sort(ops)
	if want := []history.Op{history.OpExecute, history.OpExecute, history.OpShutdownGracefully}; !slices.Equal(ops, want) {
		t.Errorf("got %v, want %v, in %v", ops, want, small)
	}
}

// TestProgramsAreDeterministic wants the same program from the same seed, and
// different ones from different seeds.
func TestProgramsAreDeterministic(t *testing.T) {
	for _, cl := range clauses {
		texts := map[string]bool{}
		for seed := range uint64(10) {
			a := cl.program(rand.New(rand.NewPCG(seed, 0)), 6)
			b := cl.program(rand.New(rand.NewPCG(seed, 0)), 6)
			if a.String() != b.String() {
				t.Errorf("%s: %v and %v from one seed", cl.name, a, b)
			}
			if !a.wellFormed() {
				t.Errorf("%s: %v does not shut down", cl.name, a)
			}
			texts[a.String()] = true
		}
		if len(texts) < 2 && cl.name != "G13" {
			t.Errorf("%s: one program from ten seeds", cl.name)
		}
	}
}

// TestActorsStartInAnyOrder wants the shutdown to be the first, the last and in
// the middle of the actors of G3, as the one started last runs first.
func TestActorsStartInAnyOrder(t *testing.T) {
	c := defaults()
	first, last, middle := 0, 0, 0
	for round := range 100 {
		p := clauses[2].generate(&c, round)
		if again := clauses[2].generate(&c, round); again.String() != p.String() {
			t.Errorf("round %d: %v and %v from one seed", round, p, again)
		}
		at := slices.IndexFunc(p.actors, func(steps []step) bool { return steps[0].op.Shuts() })
		switch at {
		case 0:
			first++
		case len(p.actors) - 1:
			last++
		default:
			middle++
		}
	}
	if min(first, last, middle) < 10 {
		t.Errorf("of 100 shutdowns %d came first, %d last and %d between, want 10 of each at least", first, last, middle)
	}
}

// dropping takes tasks and forgets them: enough for a test of the kit's own.
type dropping struct {
	once sync.Once
	done chan struct{}
}

func newDropping() Subject { return &dropping{done: make(chan struct{})} }

func (d *dropping) Execute(func()) error  { return nil }
func (d *dropping) Done() <-chan struct{} { return d.done }

func (d *dropping) Shutdown(time.Duration, time.Duration) error {
	d.once.Do(func() { close(d.done) })
	return nil
}
