package core_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// TestG15TheContextEndsBeforeAFailureIsLogged: a logger that waits, or looks, finds that the executor
// takes no more work.
func TestG15TheContextEndsBeforeAFailureIsLogged(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var l *core.EventLoop
		var ended []bool
		logger := newHooked(func(message string) {
			if message == "the loop failed" {
				ended = append(ended, l.Context().Err() != nil)
			}
		})
		l = loopOn(t, sleepy{pollertest.NewModel(nil)}, core.WithLogger(logger))
		for l.Execute(func() {}) == nil {
			synctest.Wait()
		}
		coretest.AwaitDone(t, l)
		if !slices.Equal(ended, []bool{true}) {
			t.Errorf("the Context had ended when the failure was logged: %v, want [true]", ended)
		}
	})
}
