package process

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestPropFlushOfTheLog compares the log of a process with a queue that one writer serves, in virtual time and to the
// nanosecond: every line reaches the handler once, in order, also if the handler panics or calls runtime.Goexit; log does
// not wait for the handler. A flush returns when no line is left, with a limit after that limit at the latest. Without a logger
// the lines go to slog.Default.
func TestPropFlushOfTheLog(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		var calls []scribeCall
		for range rapid.IntRange(1, 8).Draw(r, "calls") {
			calls = append(calls, drawScribeCall(r))
		}
		var wrong string
		byDefault := rapid.Bool().Draw(r, "without a logger")
		synctest.Test(t, func(t *testing.T) { wrong = runScribe(t, calls, byDefault) })
		if wrong != "" {
			r.Fatalf("%s; the calls %+v", wrong, calls)
		}
	})
}

// scribeCall is a call of log or of a flush.
type scribeCall struct {
	what  string        // "log", "flush" or "flushWithoutTimer"
	level slog.Level    // of the line
	takes time.Duration // the time of the handler
	ends  string        // how the handler ends: "return", "panic" or "goexit"
	limit time.Duration // of the flush
	then  time.Duration // the time until the next call
}

// drawScribeCall draws times of which no sum of handlers is a sum of limits and pauses: no two events are at one instant.
func drawScribeCall(t *rapid.T) scribeCall {
	ms := func(name string, all ...int) time.Duration {
		return time.Duration(rapid.SampledFrom(all).Draw(t, name)) * time.Millisecond
	}
	return scribeCall{
		what:  rapid.SampledFrom([]string{"log", "log", "log", "flush", "flushWithoutTimer"}).Draw(t, "call"),
		level: rapid.SampledFrom([]slog.Level{slog.LevelInfo, slog.LevelWarn, slog.LevelError}).Draw(t, "level"),
		takes: ms("milliseconds of the handler", 0, 1, 5, 20) + time.Microsecond,
		ends:  rapid.SampledFrom([]string{"return", "return", "panic", "goexit"}).Draw(t, "the handler ends by"),
		limit: ms("limit", 0, 1, 10, 100),
		then:  ms("milliseconds behind it", 0, 0, 1, 7, 30),
	}
}

// scribeHandler does what each line says.
type scribeHandler struct {
	slog.Handler
	begin time.Time
	got   *[]string // each line, with the time of its begin
}

func (scribeHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h scribeHandler) Handle(_ context.Context, r slog.Record) error {
	*h.got = append(*h.got, fmt.Sprintf("%v %s at %v", r.Level, r.Message, time.Since(h.begin)))
	r.Attrs(func(a slog.Attr) bool {
		c := a.Value.Any().(scribeCall)
		time.Sleep(c.takes)
		switch c.ends {
		case "panic":
			panic("a handler of the test")
		case "goexit":
			runtime.Goexit()
		}
		return true
	})
	return nil
}

// runScribe makes the calls, and describes the first difference from the specification, if there is one.
func runScribe(t *testing.T, calls []scribeCall, byDefault bool) (wrong string) {
	begin := time.Now()
	var got, want []string
	s := &scribe{ctx: t.Context(), logger: slog.New(scribeHandler{slog.DiscardHandler, begin, &got})}
	if byDefault {
		before := slog.Default()
		defer slog.SetDefault(before)
		slog.SetDefault(s.logger)
		s.logger = nil
	}
	idleAt := time.Duration(0) // when the last line is written
	for i, c := range calls {
		now := time.Since(begin)
		returns := now
		switch c.what {
		case "log":
			want = append(want, fmt.Sprintf("%v %d at %v", c.level, i, max(now, idleAt)))
			idleAt = max(now, idleAt) + c.takes
			s.log(c.level, fmt.Sprint(i), "call", c)
		case "flush":
			returns = max(now, min(idleAt, now+c.limit))
			s.flush(c.limit)
		case "flushWithoutTimer":
			returns = max(now, idleAt)
			s.flushWithoutTimer()
		}
		if at := time.Since(begin); at != returns && wrong == "" {
			wrong = fmt.Sprintf("call %d returns at %v, want %v", i, at, returns)
		}
		time.Sleep(c.then)
		synctest.Wait()
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	if !slices.Equal(got, want) && wrong == "" {
		wrong = fmt.Sprintf("the handler got the lines %q, want %q", got, want)
	}
	return wrong
}

// TestScribeIsUsedByManyGoroutines: goroutines that log and flush at once lose no line and have no data race.
func TestScribeIsUsedByManyGoroutines(t *testing.T) {
	for range 50 {
		var got []string
		s := &scribe{ctx: t.Context(), logger: slog.New(lineHandler{slog.DiscardHandler, &got})}
		var users sync.WaitGroup
		for range 2 {
			users.Go(func() { s.flush(time.Minute) })
			users.Go(func() { s.log(slog.LevelInfo, "line") })
			users.Go(s.flushWithoutTimer)
		}
		users.Wait()
		s.flushWithoutTimer()
		if want := []string{"INFO line", "INFO line"}; !slices.Equal(got, want) {
			t.Fatalf("the handler got the lines %q, want %q", got, want)
		}
	}
}
