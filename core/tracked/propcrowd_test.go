package tracked_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/tracked"

	"pgregory.net/rapid"
)

// crowd is a number of goroutines that call Go at the same time, and the limits of the group, one after
// the other: the next one comes when all calls wait or have returned.
type crowd struct {
	Callers, Calls int
	Limits         []int
}

func drawCrowd(t *rapid.T) crowd {
	return crowd{
		Callers: rapid.SampledFrom([]int{1, 8, 64, 128}).Draw(t, "callers"),
		Calls:   rapid.IntRange(1, 20).Draw(t, "calls of each"),
		Limits:  rapid.SliceOfN(rapid.IntRange(-1, 40), 1, 5).Draw(t, "limits"),
	}
}

// run returns the first difference, or "". Each caller has a goroutine for each of its calls, because
// Go waits at the limit.
func (c crowd) run() string {
	const lasts = time.Minute
	g := tracked.NewGroup(tracked.WithLogger(slog.New(slog.DiscardHandler)))
	defer time.Sleep(time.Hour) // the functions end
	defer g.Shutdown()
	g.SetLimit(0)
	all := c.Callers * c.Calls
	var ran, refused atomic.Int64
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for range all {
		wg.Go(func() {
			<-begin
			switch err := g.Go("one of many", func(context.Context) error { ran.Add(1); time.Sleep(lasts); return nil }); {
			case errors.Is(err, core.ErrRejected):
				refused.Add(1)
			case err != nil:
				panic(err)
			}
		})
	}
	synctest.Wait()
	close(begin)
	done := 0 // functions that have returned
	for _, limit := range c.Limits {
		synctest.Wait()
		g.SetLimit(limit)
		synctest.Wait()
		running := min(limit, all-done)
		if limit < 0 {
			running = all - done
		}
		if n := len(g.Functions()); n != running || ran.Load() != int64(done+running) {
			return fmt.Sprintf("with the limit %d and %d calls, of which %d are done, %d functions run and %d have begun", limit, all, done, n, ran.Load())
		}
		g.SetLimit(0)
		time.Sleep(lasts + 1)
		done += running
	}
	g.Shutdown()
	wg.Wait()
	if r := g.Termination().Report(); ran.Load() != int64(done) || refused.Load() != int64(all-done) || r.Accepted != int64(done) || r.Rejected != int64(all-done) {
		return fmt.Sprintf("G3: %d of %d calls have run and %d were refused, the report is %+v; want %d that ran", ran.Load(), all, refused.Load(), r, done)
	}
	return ""
}

// TestPropCrowd: of many calls of Go at the same time none is lost. As many functions run as the limit
// lets in, and the shutdown refuses the calls that still wait (G3, G5).
func TestPropCrowd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawCrowd(rt)
		var wrong string
		synctest.Test(t, func(*testing.T) { wrong = c.run() })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
