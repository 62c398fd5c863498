package process

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
)

// A step that ended before the deadline of the exit has not passed it, though Run looks
// when that has.
func TestG11StepThatEndsBeforeTheExitsDeadlineIsInTime(t *testing.T) {
	const deadline = 3 * time.Second
	tests := []struct {
		ends time.Duration
		want error
		code int
	}{{deadline - 1, nil, CodeClean}, {deadline, ErrDeadline, CodeFailed}, {deadline + 1, ErrDeadline, CodeFailed}, {deadline + time.Hour, ErrDeadline, CodeFailed}}
	for _, tt := range tests {
		t.Run(tt.ends.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				whole, release := context.WithTimeoutCause(t.Context(), deadline, ErrDeadline)
				defer release()
				run := func(context.Context) error { time.Sleep(tt.ends); return nil }
				x := &exit{plan: &Plan{Steps: []Step{{Name: "it", Run: run}}}, terms: make([]*core.Termination, 1), log: discard(t), whole: whole}
				began := time.Now()
				x.steps = []*attempt{begin(whole, began, run)}
				time.Sleep(deadline + time.Second)
				r := x.report(nil, began)
				if r.Ended != tt.want || r.Code != tt.code {
					t.Errorf("G11: a step that ended after %v of %v: Ended %v, code %d; want %v, %d", tt.ends, deadline, r.Ended, r.Code, tt.want, tt.code)
				}
				<-x.steps[0].over
			})
		})
	}
}
