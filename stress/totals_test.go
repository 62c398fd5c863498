package stress

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// totals are the sums over the rounds of a run, by kind of shutdown.
type totals struct {
	began time.Time
	kinds [kinds]subtotal
	plans map[plan]int // without their load
}

type subtotal struct {
	rounds, inside, extras           int
	attempts, accepted, refused, ran int64
	after                            int64
}

func newTotals() *totals { return &totals{began: time.Now(), plans: make(map[plan]int)} }

func (t *totals) add(p plan, b books) {
	t.kinds[p.kind].add(p, b)
	p.load = 0
	t.plans[p]++
}

func (s *subtotal) add(p plan, b books) {
	s.rounds++
	if p.inside {
		s.inside++
	}
	if p.extras {
		s.extras++
	}
	s.attempts += b.attempts
	s.accepted += b.accepted
	s.refused += b.refused
	s.ran += b.ran
	s.after += b.after
}

func (s *subtotal) plus(o subtotal) {
	s.rounds += o.rounds
	s.inside += o.inside
	s.extras += o.extras
	s.attempts += o.attempts
	s.accepted += o.accepted
	s.refused += o.refused
	s.ran += o.ran
	s.after += o.after
}

func (t *totals) all() (sum subtotal) {
	for _, s := range t.kinds {
		sum.plus(s)
	}
	return sum
}

// String returns the table that ends a run.
func (t *totals) String() string {
	var b strings.Builder
	all, elapsed := t.all(), time.Since(t.began)
	fmt.Fprintf(&b, "%d shutdowns under %d producers in %v, %.1f million attempts per second\n",
		all.rounds, producers, elapsed.Round(time.Millisecond), float64(all.attempts)/elapsed.Seconds()/1e6)
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "  shutdown\trounds\tfrom a task\thooks, timers\tattempts\taccepted\tran\trefused\taccepted after the call")
	for k, s := range t.kinds {
		s.write(tab, kind(k).String())
	}
	all.write(tab, "all")
	_ = tab.Flush() // a Builder does not fail
	return b.String()
}

func (s subtotal) write(tab *tabwriter.Writer, name string) {
	fmt.Fprintf(tab, "  %s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", name, s.rounds, s.inside, s.extras, s.attempts, s.accepted, s.ran, s.refused, s.after)
}
