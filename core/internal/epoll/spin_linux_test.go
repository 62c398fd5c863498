package epoll

import (
	"testing"
	"time"
)

// A yield before parking is timed now and then, and a long one ends them for a while.
func TestCourtesyEndsAtALongYield(t *testing.T) {
	var c yieldBackoff
	yields := func(parks int, each time.Duration) (n int) {
		for range parks {
			if c.begin() {
				n++
				if c.count == timedYield {
					c.took(each)
				}
			}
		}
		return n
	}
	if n := yields(10*timedYield, 0); n != 10*timedYield {
		t.Errorf("%d of %d parks were preceded by a yield, want all: none took long", n, 10*timedYield)
	}
	if n := yields(timedYield+unyieldedParks, 2*time.Duration(slowYield)); n != timedYield {
		t.Errorf("%d parks were preceded by a yield, want %d: the last of them took long", n, timedYield)
	}
	if n := yields(timedYield, 0); n != timedYield {
		t.Errorf("%d of %d parks were preceded by a yield, want all again", n, timedYield)
	}
}
