package process

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropLinesOfAnExit compares the whole log of generated exits with a specification, line by line, in virtual time: the
// first line is that of the begin, unless Start has failed; each part has a line when it begins and one when the next may
// begin; the last line sums up. Each notification that does not reach the service manager adds a line.
func TestPropLinesOfAnExit(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	nobody := filepath.Join(shortDir(t), "nobody")
	rapid.Check(t, func(r *rapid.T) {
		e := drawLoggedExit(r)
		t.Setenv("NOTIFY_SOCKET", map[bool]string{true: nobody}[e.supervised])
		var got []string
		synctest.Test(t, func(t *testing.T) { got = e.run(t) })
		if want := e.want(); !slices.Equal(got, want) {
			r.Fatalf("the log of %+v is\n%s\nwant\n%s", e, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// loggedPart is a function of a plan. After a time it returns nil or an error, or it ignores its deadline.
type loggedPart struct {
	takes time.Duration
	ends  string // "done", "failed" or "late"
}

// loggedExit is a plan, without its functions.
type loggedExit struct {
	supervised bool
	signal     bool   // a signal begins the exit, unless Start has; otherwise the end of the context
	start      string // "", "serves", "serves, and fails", "returns" or "fails"
	notReady   bool
	preDrain   time.Duration
	steps      []loggedPart
}

const lateAfter = 10 * time.Millisecond // the deadline of a step that is late

func drawLoggedExit(t *rapid.T) loggedExit {
	e := loggedExit{
		supervised: rapid.Bool().Draw(t, "supervised"),
		signal:     rapid.Bool().Draw(t, "signal"),
		start:      rapid.SampledFrom([]string{"", "serves", "serves, and fails", "returns", "fails"}).Draw(t, "Start"),
		notReady:   rapid.Bool().Draw(t, "NotReady"),
		preDrain:   rapid.SampledFrom([]time.Duration{0, 5 * time.Millisecond}).Draw(t, "PreDrain"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "steps") {
		e.steps = append(e.steps, loggedPart{
			takes: time.Duration(rapid.IntRange(1, 9).Draw(t, "milliseconds")) * time.Millisecond,
			ends:  rapid.SampledFrom([]string{"done", "failed", "late"}).Draw(t, "end"),
		})
	}
	return e
}

var (
	errOfStart = errors.New("no luck")
	errOfStep  = errors.New("no end")
	stamps     = regexp.MustCompile(`^time=\S+ `)
	extension  = regexp.MustCompile(`USEC=\d+`)
	reason     = regexp.MustCompile(`(state=\S+) error=.*`)
)

// run runs the exit, and returns its log without what depends on the machine, and without the time of EXTEND_TIMEOUT_USEC.
func (e loggedExit) run(t *testing.T) (lines []string) {
	gate := make(chan struct{})
	ctx, end := context.WithCancel(t.Context())
	defer end()
	log := &coretest.Log{}
	plan := Plan{PreDrain: e.preDrain, Logger: slog.New(slog.NewTextHandler(log, nil))}
	if e.start != "" {
		plan.Start = func(ctx context.Context) error {
			Ready(ctx)
			if strings.HasPrefix(e.start, "serves") {
				<-ctx.Done()
			}
			if e.startFails() {
				return errOfStart
			}
			return nil
		}
	}
	if e.notReady {
		plan.NotReady = func() { time.Sleep(time.Millisecond) }
	}
	for i, s := range e.steps {
		step := Step{Name: fmt.Sprint("s", i), Run: func(context.Context) error {
			time.Sleep(s.takes)
			switch s.ends {
			case "failed":
				return errOfStep
			case "late":
				<-gate
			}
			return nil
		}}
		if s.ends == "late" {
			step.Deadline = lateAfter
		}
		plan.Steps = append(plan.Steps, step)
	}
	tr := launch(t, ctx, plan)
	if e.signal && (e.start == "" || strings.HasPrefix(e.start, "serves")) {
		tr.signals <- os.Interrupt
	} else {
		end()
	}
	tr.wait()
	close(gate)
	for line := range strings.Lines(log.String()) {
		line = stamps.ReplaceAllString(strings.TrimSpace(line), "")
		line = reason.ReplaceAllString(extension.ReplaceAllString(line, "USEC"), "$1")
		lines = append(lines, strings.ReplaceAll(line, `"`, ""))
	}
	return lines
}

// loggedLines are the lines of an exit, and its time.
type loggedLines struct {
	e     loggedExit
	all   []string
	took  time.Duration
	start bool // Start has its line
}

func (l *loggedLines) add(level, format string, args ...any) {
	l.all = append(l.all, "level="+level+" msg="+fmt.Sprintf(format, args...))
}

// say adds the line of a notification.
func (l *loggedLines) say(state string) {
	if l.e.supervised {
		l.add("WARN", "the service manager was not notified state=%s", state)
	}
}

// startEnds adds the line of Start.
func (l *loggedLines) startEnds(elapsed time.Duration) {
	if l.start {
		return
	}
	l.start = true
	if l.e.startFails() {
		l.add("ERROR", "step failed step=Start elapsed=%v error=%v", elapsed, errOfStart)
	} else {
		l.add("INFO", "step done step=Start elapsed=%v", elapsed)
	}
}

// want returns the log that the exit must have.
func (e loggedExit) want() []string {
	l := &loggedLines{e: e}
	l.say("READY=1")
	level, cause := "INFO", context.Canceled
	if e.signal {
		cause = errors.New("process: signal: interrupt")
	}
	switch e.start {
	case "returns":
		cause = ErrStartReturned
	case "fails":
		level, cause = "ERROR", errOfStart
		l.startEnds(0)
	}
	l.add(level, "exit begins cause=%v deadline=%v", cause, DefaultDeadline)
	l.say("STOPPING=1")
	if e.notReady {
		l.add("INFO", "step begins step=NotReady")
		l.say("EXTEND_TIMEOUT_USEC")
		l.took = time.Millisecond
		l.add("INFO", "step done step=NotReady elapsed=%v", time.Millisecond)
	}
	switch {
	case e.preDrain == 0:
	case e.start == "fails":
		l.add("WARN", "PreDrain is skipped: Start has failed predrain=%v", e.preDrain)
	default:
		l.add("INFO", "still serving for=%v", e.preDrain)
		l.say("EXTEND_TIMEOUT_USEC")
		if e.start == "returns" {
			l.startEnds(0)
		}
		l.took += e.preDrain
	}
	served := l.took // Start ends before the first step
	failed, late := e.startFails(), []string(nil)
	lateLines := []func(){}
	for i, s := range e.steps {
		name := fmt.Sprint("s", i)
		began := l.took
		l.add("INFO", "step begins step=%s", name)
		l.say("EXTEND_TIMEOUT_USEC")
		switch s.ends {
		case "done":
			l.took += s.takes
			l.add("INFO", "step done step=%s elapsed=%v", name, s.takes)
		case "failed":
			l.took += s.takes
			failed = true
			l.add("ERROR", "step failed step=%s elapsed=%v error=%v", name, s.takes, errOfStep)
		case "late":
			elapsed := lateAfter + heedTime
			l.took += elapsed
			failed, late = true, append(late, name)
			l.add("ERROR", "step's deadline passed step=%s elapsed=%v outcome=still running", name, elapsed)
			lateLines = append(lateLines, func() { l.add("ERROR", "still running step=%s elapsed=%v", name, l.took-began) })
		}
	}
	if e.start != "" {
		l.say("EXTEND_TIMEOUT_USEC")
		if strings.HasPrefix(e.start, "serves") {
			l.startEnds(served)
		} else {
			l.startEnds(0)
		}
	}
	for _, line := range lateLines {
		line()
	}
	last := fmt.Sprintf("exit code=%d elapsed=%v lost=0 cancelled=0", CodeClean, l.took)
	if level = "INFO"; failed {
		level, last = "ERROR", strings.Replace(last, "code=0", "code=1", 1)
	}
	if late != nil {
		last += fmt.Sprintf(" still_running=%v", late)
	}
	l.add(level, "%s", last)
	return l.all
}

func (e loggedExit) startFails() bool { return strings.Contains(e.start, "fails") }
