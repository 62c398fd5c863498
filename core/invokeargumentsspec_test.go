package core_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropInvokeArguments compares the errors of Submit, InvokeAll and InvokeAny for bad arguments with a table. After such an
// error no function has run.
func TestPropInvokeArguments(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		call := rapid.SampledFrom([]string{"Submit", "InvokeAll", "InvokeAny"}).Draw(rt, "call")
		n, bad := rapid.IntRange(1, 4).Draw(rt, "functions"), rapid.IntRange(-4, 3).Draw(rt, "nil function")
		withContext, executor := rapid.Bool().Draw(rt, "context"), rapid.SampledFrom([]string{"", "", "nil", "nil Executor", "nil EventLoop", "nil Group", "nil Pool"}).Draw(rt, "executor")
		if call == "Submit" {
			n, withContext = 1, true
		}
		want := ""
		switch {
		case !withContext:
			want = "core: " + call + ": ctx is nil, want a context"
		case executor != "":
			want = "core: " + call + ": ex is nil, want an executor"
		case bad >= 0 && bad < n && call == "Submit":
			want = "core: Submit: f is nil, want a function"
		case bad >= 0 && bad < n:
			want = fmt.Sprintf("core: %s: function %d of %d is nil, want a function", call, bad, n)
		}
		checkInBubble(t, rt, func(t *testing.T) string {
			var ex core.EventExecutor = coretest.NewExecutor(t)
			if executor != "" {
				ex = map[string]core.EventExecutor{
					"nil Executor": (*core.Executor)(nil), "nil EventLoop": (*core.EventLoop)(nil), "nil Group": (*core.Group)(nil), "nil Pool": (*core.Pool)(nil),
				}[executor]
			}
			ran, fs, ctx := 0, make([]func() (int, error), n), context.Background()
			for i := range fs {
				if i != bad {
					fs[i] = func() (int, error) { ran++; return 0, nil }
				}
			}
			if !withContext {
				ctx = nil
			}
			var err error
			switch call {
			case "Submit":
				_, err = core.Submit(ex, fs[0]).Wait(context.Background())
			case "InvokeAll":
				_, err = core.InvokeAll(ctx, ex, fs...)
			default:
				_, err = core.InvokeAny(ctx, ex, fs...)
			}
			synctest.Wait()
			if got := errorText(err); got != want || want != "" && ran > 0 {
				return fmt.Sprintf("%s returns %q, and %d functions ran; want %q", call, got, ran, want)
			}
			return ""
		})
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
