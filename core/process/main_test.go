package process

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		os.Exit(children[name]())
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // many exits of the tests lose tasks
	goleak.VerifyTestMain(m)
}

// childVariable names, in the environment of a re-executed test binary, which of
// children it is.
const childVariable = "EVENTIDE_PROCESS_CHILD"

// children are added by the files that start them: not each system has what these need.
var children = map[string]func() int{}

// trial is one Run in a bubble.
type trial struct {
	t       *testing.T
	began   time.Time
	signals chan os.Signal
	log     *coretest.Log
	report  Report        // once ended is closed
	took    time.Duration // likewise
	ended   chan struct{}
}

// launch calls RunReport, with signals that the test sends, and returns when
// nothing moves without a signal or time.
func launch(t *testing.T, ctx context.Context, plan Plan) *trial {
	return launchOn(t, make(chan os.Signal, 2), ctx, plan)
}

func launchOn(t *testing.T, signals chan os.Signal, ctx context.Context, plan Plan) *trial {
	tr := &trial{t: t, began: time.Now(), signals: signals, log: &coretest.Log{}, ended: make(chan struct{})}
	if plan.Logger == nil {
		plan.Logger = slog.New(slog.NewTextHandler(tr.log, nil))
	}
	go func() {
		defer close(tr.ended)
		tr.report = runWith(ctx, plan, func([]os.Signal) (<-chan os.Signal, func()) { return tr.signals, func() {} })
		tr.took = time.Since(tr.began)
	}()
	synctest.Wait()
	return tr
}

// wait returns the report of a Run that ends without help.
func (tr *trial) wait() Report {
	<-tr.ended
	return tr.report
}

// isEnded reports whether Run has returned, when nothing moves without time.
func (tr *trial) isEnded() bool {
	synctest.Wait()
	select {
	case <-tr.ended:
		return true
	default:
		return false
	}
}

func (tr *trial) wantCode(want int) {
	tr.t.Helper()
	if got := tr.wait().Code; got != want {
		tr.t.Errorf("exit code %d, want %d; report %+v", got, want, tr.report)
	}
}

// wantTook is exact: time is virtual.
func (tr *trial) wantTook(want time.Duration) {
	tr.t.Helper()
	if tr.wait(); tr.took != want {
		tr.t.Errorf("Run returned after %v, want %v", tr.took, want)
	}
}

// wantLine wants a log line that holds every part.
func (tr *trial) wantLine(parts ...string) {
	tr.t.Helper()
	tr.wait()
	wantLine(tr.t, tr.log.String(), parts...)
}

func wantLine(t *testing.T, log string, parts ...string) {
	t.Helper()
	for line := range strings.Lines(log) {
		if holdsAll(line, parts) {
			return
		}
	}
	t.Errorf("no log line holds all of %q; the log is\n%s", parts, log)
}

func holdsAll(line string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(line, part) {
			return false
		}
	}
	return true
}

// lineHandler records the lines of a log.
type lineHandler struct {
	slog.Handler
	lines *[]string
}

func (lineHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h lineHandler) Handle(_ context.Context, r slog.Record) error {
	line := fmt.Sprintf("%v %s", r.Level, r.Message)
	r.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(" %s=%v", a.Key, a.Value.Any())
		return true
	})
	*h.lines = append(*h.lines, line)
	return nil
}

// discard is a scribe that writes nothing.
func discard(t *testing.T) *scribe {
	return &scribe{logger: slog.New(slog.DiscardHandler), ctx: t.Context()}
}

// calls is what was called when, since the bubble began.
type calls struct {
	coretest.Journal
	began time.Time
}

func newCalls() *calls { return &calls{began: time.Now()} }

func (c *calls) note(what string) { c.Add(what + "@" + time.Since(c.began).String()) }

// step is a Run that notes its name and returns nil.
func (c *calls) step(name string) Step {
	return Step{Name: name, Run: func(context.Context) error { c.note(name); return nil }}
}

func (c *calls) want(t *testing.T, want ...string) {
	t.Helper()
	c.Want(t, "calls", strings.Join(want, " "))
}

// until returns a Run that ends when gate is closed, whatever its context says.
func until(gate <-chan struct{}) func(context.Context) error {
	return func(context.Context) error { <-gate; return nil }
}
