package process

import (
	"context"
	"testing"
	"time"
)

// TestIsOver: a context is over once it was cancelled, and also once its deadline has passed.
func TestIsOver(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	endedEarly, end := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	end()
	late, end := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer end()
	for what, row := range map[string]struct {
		ctx  context.Context
		want bool
	}{
		"no deadline":                 {t.Context(), false},
		"no deadline, cancelled":      {ended, true},
		"a later deadline":            {late, false},
		"a later deadline, cancelled": {endedEarly, true},
		"a deadline that has passed":  {lateTimer{t.Context(), time.Now().Add(-time.Second)}, true},
	} {
		if got := isOver(row.ctx); got != row.want {
			t.Errorf("%s: %v, want %v", what, got, row.want)
		}
	}
}
