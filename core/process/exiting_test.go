package process

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"eventide/core/internal/coretest"
)

// The consumer of a queue stops at the begin of the exit, the server when PreDrain has
// passed.
func TestExitingEndsBeforeTheContextOfStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(context.Background())
		reason := errors.New("the unit was stopped")
		var stopped, ended time.Time
		type key struct{}
		report := runWith(context.WithValue(ctx, key{}, "value"), Plan{
			PreDrain: 3 * time.Second,
			Start: func(ctx context.Context) error {
				exiting, err := Exiting(ctx)
				coretest.Must(t, err)
				coretest.Want(t, "value", exiting.Value(key{}), any("value"))
				synctest.Wait()
				coretest.Want(t, "ended before the exit", exiting.Err(), nil)
				stop(reason)
				<-exiting.Done()
				stopped = time.Now()
				coretest.WantErr(t, "cause", context.Cause(exiting), reason)
				<-ctx.Done()
				ended = time.Now()
				coretest.WantErr(t, "cause of the end of Start's context", context.Cause(ctx), reason)
				return nil
			},
		}, noSignals)
		coretest.Want(t, "code", report.Code, 0)
		coretest.Want(t, "time between the two", ended.Sub(stopped), 3*time.Second)
	})
}

// TestExitingForgetsAContextThatHasEnded: a consumer may call Exiting for each message.
func TestExitingForgetsAContextThatHasEnded(t *testing.T) {
	type key struct{}
	report := runWith(t.Context(), Plan{Start: func(ctx context.Context) error {
		message := func() weak.Pointer[[1024]byte] {
			value := new([1024]byte)
			ctx, end := context.WithCancel(context.WithValue(ctx, key{}, value))
			defer end()
			_, err := Exiting(ctx)
			coretest.Must(t, err)
			return weak.Make(value)
		}()
		coretest.Until(t, "the context of the message to be collected", func() bool { runtime.GC(); return message.Value() == nil })
		return nil
	}}, noSignals)
	coretest.Want(t, "code", report.Code, CodeClean)
}

func TestExitingWantsTheContextOfStart(t *testing.T) {
	_, err := Exiting(context.Background())
	coretest.WantText(t, "another context", err, "process: Exiting: ctx is not the context of Plan.Start, want it or one derived from it")
}
