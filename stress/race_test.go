package stress

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
)

// twoIncrements adds two to a counter in a way that loses one of them if the
// loads come before the stores.
type twoIncrements struct{ n atomic.Int64 }

func (c *twoIncrements) right() { c.n.Add(1) }

func (c *twoIncrements) wrong() {
	n := c.n.Load()
	if runtime.GOMAXPROCS(0) == 1 {
		runtime.Gosched() // or the two could not meet
	}
	c.n.Store(n + 1)
}

func incrementTable() *Table {
	return NewTable("two increments",
		Row{"2", Acceptable, "Both count."},
		Row{"1", Forbidden, "One was lost."},
	)
}

// TestRaceFindsLostUpdate plants the smallest race there is. It also shows that
// actors do meet: if they did not, no update would be lost.
func TestRaceFindsLostUpdate(t *testing.T) {
	table := incrementTable()
	incrementing((*twoIncrements).wrong).Run(1_000_000, table)
	if table.Count("1") == 0 || table.Check() == nil {
		t.Errorf("got\n%swant a lost update, and an error for it", table)
	}
	if table.Total() == 1_000_000 {
		t.Errorf("ran on after a forbidden outcome: %d runs", table.Total())
	}
}

func TestRaceCountsEveryRun(t *testing.T) {
	table := incrementTable()
	incrementing((*twoIncrements).right).Run(1000, table)
	if got, want := table.Total(), 1024; got != want || table.Check() != nil {
		t.Errorf("got %d runs, error %v; want %d, which is 1000 in whole strides, and no error", got, table.Check(), want)
	}
}

func incrementing(inc func(*twoIncrements)) Race[*twoIncrements] {
	return Race[*twoIncrements]{
		Setup:   func() *twoIncrements { return new(twoIncrements) },
		Actors:  []func(*twoIncrements){inc, inc},
		Outcome: func(c *twoIncrements) string { return strconv.FormatInt(c.n.Load(), 10) },
	}
}
