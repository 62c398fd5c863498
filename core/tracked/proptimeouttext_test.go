package tracked

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropG11RunningBeforeTheContextEnds: the report of a timeout shows where the functions were before their context ended,
// and before the close refused the calls of Go that waited in a function: afterwards they go on, and their stacks no longer show
// what they waited for (G11).
func TestPropG11RunningBeforeTheContextEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		functions, callers := rapid.IntRange(1, 4).Draw(rt, "functions"), rapid.IntRange(1, 4).Draw(rt, "functions that call Go")
		timeout := time.Duration(rapid.IntRange(0, 1).Draw(rt, "minutes")) * time.Minute
		text := ""
		var w coretest.Waiting
		synctest.Test(t, func(t *testing.T) {
			var g Group
			w = coretest.NewWaiting()
			for range functions {
				coretest.Must(t, g.Go("waits", func(ctx context.Context) error { w.Run(ctx); return nil }))
			}
			g.SetLimit(functions + callers)
			full := make(chan struct{})
			for range callers {
				coretest.Must(t, g.Go("calls", func(context.Context) error {
					<-full
					coretest.WantErr(t, "G5: the call that waited at the timeout", g.Go("refused", sleep(0)), core.ErrShutdownTimeout)
					return nil
				}))
			}
			close(full)
			synctest.Wait()
			term, err := g.ShutdownGracefully(0, timeout)
			coretest.Must(t, err)
			time.Sleep(timeout) // of the bubble
			synctest.Wait()
			coretest.Want(t, "G1: state", g.State(), core.StateShutdown)
			w.Release()
			<-term.Done()
			text = g.Report().Running
		})
		if !w.Waits(text) || w.IsPast(text) {
			rt.Fatalf("G11: a timeout after %v: the text is not that of functions that wait for their context:\n%s", timeout, text)
		}
		if n := strings.Count(text, "tracked.(*Group).Go("); n != callers {
			rt.Fatalf("G11: a timeout after %v: the text shows %d functions in a call of Go, want %d:\n%s", timeout, n, callers, text)
		}
		if n := strings.Count(text, " [chan receive"); n != functions+callers {
			rt.Fatalf("G11: a timeout after %v: the text shows %d functions that wait, want %d:\n%s", timeout, n, functions+callers, text)
		}
	})
}
