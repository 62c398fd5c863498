package process

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"runtime"
	"testing"

	"eventide/core/internal/coretest"
)

// TestProbesComeBeforeTheServiceManager: a probe that the service manager makes after READY=1 or STOPPING=1 gets the answer of the
// new state. While the state cannot change, the manager is not notified.
func TestProbesComeBeforeTheServiceManager(t *testing.T) {
	for name, announce := range map[string]func(x *exit){
		"READY=1":    (*exit).ready,
		"STOPPING=1": func(x *exit) { x.leave(errors.New("a signal")) },
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			log := &scribe{ctx: t.Context(), logger: slog.New(lineHandler{slog.DiscardHandler, &lines})}
			x := &exit{
				plan: &Plan{Health: &Health{}}, log: log, begun: context.Background(),
				manager: &supervisor{address: filepath.Join(shortDir(t), "nobody"), log: log}, // each notification adds a line
			}
			x.plan.Health.mu.Lock()
			over := make(chan struct{})
			go func() { announce(x); close(over) }()
			coretest.Until(t, "the change of the state", func() bool { return isCalled("(*Health).set") })
			log.flush(coretest.HangGuard)
			coretest.Want(t, "notifications before the change", len(lines), 0)
			x.plan.Health.mu.Unlock()
			coretest.Await(t, "the end of the call", over)
			log.flush(coretest.HangGuard)
			coretest.Want(t, "notifications behind it", len(lines), 1)
		})
	}
}

// isCalled reports whether a goroutine is inside of a function.
func isCalled(name string) bool {
	all := make([]byte, 1<<20)
	return bytes.Contains(all[:runtime.Stack(all, true)], []byte(name+"("))
}
