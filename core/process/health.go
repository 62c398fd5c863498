package process

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// DefaultStuckAfter is the StuckAfter of a Health that sets none.
const DefaultStuckAfter = 30 * time.Second

// Health answers the probes of a supervisor. The zero Health is ready for use; set it as the
// Plan's Health, and serve its handlers.
//
//	health := &process.Health{}
//	mux.Handle("/readyz", health.Readiness())
//	mux.Handle("/livez", health.Liveness())
//
// All methods may be called from many goroutines at once. A Health belongs to one Run.
type Health struct {
	// StuckAfter is how long an executor of the plan may have waiting tasks and run
	// nothing before the process counts as not alive: see Liveness. 0: DefaultStuckAfter.
	StuckAfter time.Duration

	// Guarded by mu.
	mu    sync.Mutex
	state readiness
	why   error    // of the exit
	alive *monitor // of the plan's executors; nil before Run
}

type readiness uint8

const (
	starting readiness = iota
	ready
	exiting
)

// Readiness returns the handler of the readiness probe. It answers 200 from Ready until
// the exit begins, and 503 otherwise. A Plan without Start is ready from the begin of
// Run.
func (h *Health) Readiness() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h.mu.Lock()
		state, why := h.state, h.why
		h.mu.Unlock()
		switch state {
		case ready:
			answer(w, http.StatusOK, "ready")
		case exiting:
			answer(w, http.StatusServiceUnavailable, fmt.Sprintf("not ready: the exit has begun: %v", why))
		default:
			answer(w, http.StatusServiceUnavailable, "not ready: starting")
		}
	})
}

// Liveness returns the handler of the liveness probe. It answers 503 while an executor of
// the plan has waiting tasks and has run no task, timer or hook for StuckAfter, and names
// such executors. Otherwise it answers 200. A probe compares counters with those of
// earlier probes, so the first probe never fails.
//
// On a core.Executor or core.EventLoop the running task counts as a waiting one, because
// timers, hooks and readiness wait behind it: a task that takes longer than StuckAfter is
// stuck. Another body, such as a timer, is stuck only while a task waits. A loop that sleeps is
// not stuck: the tasks that wait are lazy ones (ExecuteLazy). In a core.Pool tasks wait if
// more are pending than bodies run and no worker sleeps, so long tasks alone do not make a
// pool stuck. The functions of a tracked.Group do not wait in a queue: such a group is never
// stuck. Of another Executor each accepted task that has not ended counts as waiting. The
// members of a group that has All are checked one by one.
func (h *Health) Liveness() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h.mu.Lock()
		alive := h.alive
		h.mu.Unlock()
		if stuck := alive.stuck(time.Now(), orDefault(h.StuckAfter, DefaultStuckAfter)); len(stuck) > 0 {
			answer(w, http.StatusServiceUnavailable, "stuck: "+strings.Join(stuck, ", "))
			return
		}
		answer(w, http.StatusOK, "alive")
	})
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, text) // the prober may have gone
}

// begin connects h with a run. A nil h is ignored.
func (h *Health) begin(m *monitor) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alive = m
}

// set moves h forward only: a late Ready must not undo the begin of the exit.
func (h *Health) set(to readiness, why error) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if to > h.state {
		h.state, h.why = to, why
	}
}

// Ready declares that the program serves. Plan.Start calls it with its own context once its
// listeners are open. Then the Plan's Health is ready, and systemd receives READY=1 (see
// Plan). With Plan.Starts, the program is ready when every part has called Ready or has
// returned nil. A second call has no effect, nor has a call after the begin of the exit.
// Ready returns an error if ctx is neither the context of Start nor derived from it. Ready
// may be called from many goroutines at once.
func Ready(ctx context.Context) error {
	start, err := startOf(ctx, "Ready")
	if err != nil {
		return err
	}
	start.ready()
	return nil
}
