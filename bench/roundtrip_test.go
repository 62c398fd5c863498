package bench

import (
	"testing"

	"eventide/core"
)

// restless claims to have parked twice for each time it was asked.
type restless struct {
	Executor
	asked int64
}

func (r *restless) Stats() core.Stats {
	r.asked += 2
	return core.Stats{Parks: r.asked}
}

func TestTripsOfALoopThatWasNotParkedAreVoid(t *testing.T) {
	x, err := NewMutex()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := roundTrips(&restless{Executor: x}, 10); err == nil {
		t.Error("round trips of a loop that parks twice per trip: got no error, want one that all are void")
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

func TestParkedTripsCount(t *testing.T) {
	x, err := NewCore()
	if err != nil {
		t.Fatal(err)
	}
	s, err := roundTrips(x, 100)
	if err != nil {
		t.Fatal(err)
	}
	if s.Ops != 100 {
		t.Errorf("100 trips: got %d and %d void", s.Ops, s.Void)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}
