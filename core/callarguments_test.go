package core_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// callArguments are the arguments of one call of TestPropArguments.
type callArguments struct {
	call    string
	a, b    time.Duration // the first is a number for Resize
	without bool          // nil instead of a function
}

func drawCall(t *rapid.T) callArguments {
	call := rapid.SampledFrom([]string{"Schedule", "ScheduleAtFixedRate", "ScheduleWithFixedDelay", "Resize"}).Draw(t, "call")
	return callArguments{call, duration(0, time.Hour).Draw(t, "a"), duration(1, time.Hour).Draw(t, "b"), rapid.IntRange(0, 7).Draw(t, "nil") == 0}
}

// wrong is the table: the text of the error that the call must return, or "".
func (c callArguments) wrong() string {
	period := map[string]string{"ScheduleAtFixedRate": "period", "ScheduleWithFixedDelay": "delay"}[c.call]
	switch {
	case c.call == "Resize" && c.a < 1:
		return fmt.Sprintf("core: Resize: size is %d, want at least 1", int(c.a))
	case c.call == "Resize":
		return ""
	case c.without:
		return "core: " + c.call + ": task is nil, want a function"
	case c.call == "Schedule": // a negative delay is zero
		return ""
	case c.a < 0:
		return fmt.Sprintf("core: %s: initial is %v, want 0 or more", c.call, c.a)
	case c.b <= 0:
		return fmt.Sprintf("core: %s: %s is %v, want more than 0", c.call, period, c.b)
	}
	return ""
}

// make makes the call. Only a pool has Resize.
func (c callArguments) make(ex core.EventExecutor) (t *core.Timer, err error) {
	task := func() {}
	if c.without {
		task = nil
	}
	switch c.call {
	case "Schedule":
		return ex.Schedule(c.a, task)
	case "ScheduleAtFixedRate":
		return ex.ScheduleAtFixedRate(c.a, c.b, task)
	case "ScheduleWithFixedDelay":
		return ex.ScheduleWithFixedDelay(c.a, c.b, task)
	}
	return nil, ex.(*core.Pool).Resize(int(c.a))
}

// runCalls makes the calls on a new executor in virtual time, ends it with a graceful shutdown, and
// returns a description of the first difference from the table, or "".
func runCalls(t *testing.T, kind string, calls []callArguments, end callArguments) string {
	ex := map[string]func() core.EventExecutor{
		"executor": func() core.EventExecutor { return coretest.NewExecutor(t) },
		"pool":     func() core.EventExecutor { return coretest.NewPool(t, 2) },
		"group":    func() core.EventExecutor { return coretest.NewExecutorGroup(t, 2) },
	}[kind]()
	timers, size := int64(0), 2
	for _, c := range calls {
		pool, isPool := ex.(*core.Pool)
		if c.call == "Resize" && !isPool {
			continue
		}
		synctest.Wait()
		before := ex.Stats()
		timer, err := c.make(ex)
		want := c.wrong()
		switch {
		case want == "" && c.call == "Resize":
			size = int(c.a)
		case want == "":
			timers++
		}
		switch after := ex.Stats(); {
		case !answers(err, want) || (timer != nil) != (want == "" && c.call != "Resize"):
			return fmt.Sprintf("%+v of a %s: got %v, want the error %q", c, kind, err, want)
		case after.TimersScheduled != timers || want != "" && after != before:
			return fmt.Sprintf("%+v of a %s: %+v before and %+v after, want %d timers", c, kind, before, after, timers)
		case isPool && pool.Size() != size:
			return fmt.Sprintf("%+v of a %s: Size is %d, want %d", c, kind, pool.Size(), size)
		}
	}
	synctest.Wait()
	return end.shutdown(ex)
}

// shutdown calls ShutdownGracefully, and compares what its Report says of the arguments.
func (c callArguments) shutdown(ex core.EventExecutor) string {
	want := ""
	switch {
	case c.a < 0:
		want = fmt.Sprintf("core: ShutdownGracefully: quiet is %v, want 0 or more", c.a)
	case c.b < c.a:
		want = fmt.Sprintf("core: ShutdownGracefully: timeout is %v, want at least quiet, which is %v", c.b, c.a)
	}
	before := ex.Stats()
	term, err := ex.ShutdownGracefully(c.a, c.b)
	switch after := ex.Stats(); {
	case !answers(err, want) || (term != nil) != (want == ""):
		return fmt.Sprintf("ShutdownGracefully(%v, %v): got %v, want the error %q", c.a, c.b, err, want)
	case want != "" && after != before:
		return fmt.Sprintf("ShutdownGracefully(%v, %v): %+v before and %+v after", c.a, c.b, before, after)
	}
	ex.Shutdown()
	<-ex.Termination().Done()
	if r := ex.Termination().Report(); want == "" && (r.Quiet != c.a || r.Timeout != c.b) {
		return fmt.Sprintf("ShutdownGracefully(%v, %v): the report has %v, %v", c.a, c.b, r.Quiet, r.Timeout)
	}
	return ""
}

// answers reports whether err is the error of a bad argument with the given text, or nil for "".
func answers(err error, want string) bool {
	return want == "" && err == nil || err != nil && err.Error() == want && !errors.Is(err, core.ErrRejected)
}
