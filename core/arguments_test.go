package core_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropArguments: options and calls beside a table of the values that they allow. A value that is
// not allowed is an error with the text of the table, and nothing has changed; any other value has
// its effect. Of several mistakes the error names the first.
func TestPropArguments(t *testing.T) {
	coretest.CheckLeaks(t) // constructors that fail leave no descriptor and no goroutine
	t.Run("constructors", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			for range 5 {
				n := around(1, 3).Filter(func(n int) bool { return n < 10 }).Draw(rt, "n")
				want := settings{limit: math.MaxInt}
				var opts []core.Option
				for _, option := range rapid.Permutation(options).Draw(rt, "order") {
					if rapid.Bool().Draw(rt, "with") {
						opts = append(opts, option(rt, &want))
					}
				}
				for _, c := range constructors() {
					checkConstructor(rt, c, n, opts, want)
				}
			}
		})
	})
	t.Run("calls", func(t *testing.T) {
		program := rapid.SliceOfN(rapid.Custom(drawCall), 0, 20)
		rapid.Check(t, func(rt *rapid.T) {
			calls, end, wrong := program.Draw(rt, "calls"), drawCall(rt), ""
			kind := rapid.SampledFrom([]string{"executor", "pool", "group"}).Draw(rt, "of")
			synctest.Test(t, func(t *testing.T) { wrong = runCalls(t, kind, calls, end) })
			if wrong != "" {
				rt.Fatal(wrong)
			}
		})
	})
}

// around draws numbers at the bounds of a range and just inside, and fewer that are just outside or
// far from it.
func around(lo, hi int) *rapid.Generator[int] {
	inside := rapid.SampledFrom([]int{lo, lo + 1, hi - 1, hi})
	return rapid.OneOf(inside, inside, inside, inside, inside, rapid.SampledFrom([]int{lo - 1, hi + 1, -1, 0, math.MinInt, math.MaxInt}))
}

func duration(lo, hi time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Map(around(int(lo), int(hi)), func(n int) time.Duration { return time.Duration(n) })
}

// settings are what options set: the first mistake, and what can be read back.
type settings struct {
	wrong  string // the text of the error behind "core: "; "": no mistake
	name   string
	limit  int
	poller core.Poller
}

// allow applies set if the value is allowed, and otherwise keeps the text of the first mistake.
func (s *settings) allow(allowed bool, set func(), format string, args ...any) {
	switch {
	case !allowed && s.wrong == "":
		s.wrong = fmt.Sprintf(format, args...)
	case allowed:
		set()
	}
}

// options is the table of the options that take a value which may be wrong.
var options = []func(*rapid.T, *settings) core.Option{
	func(t *rapid.T, s *settings) core.Option {
		name := rapid.SampledFrom([]string{"", " ", "a", "bakery", "bakery-0"}).Draw(t, "name")
		s.allow(name != "", func() { s.name = name }, `WithName: name is "", want at least one character`)
		return core.WithName(name)
	},
	func(t *rapid.T, s *settings) core.Option {
		n := rapid.OneOf(around(1, 16), around(17, 40)).Draw(t, "pending tasks")
		s.allow(n >= 1, func() { s.limit = max(16, n) }, "WithMaxPendingTasks: n is %d, want at least 1", n)
		return core.WithMaxPendingTasks(n)
	},
	func(t *rapid.T, s *settings) core.Option {
		n := around(int(core.CancelTimers), int(core.RunTimersUntilTimeout)).Filter(is32).Draw(t, "policy of timers")
		s.allow(n >= 0 && n <= 2, func() {}, "WithTimersAtShutdown: policy is %d, want CancelTimers, RunDueTimers or RunTimersUntilTimeout", n)
		return core.WithTimersAtShutdown(core.TimersAtShutdown(n))
	},
	func(t *rapid.T, s *settings) core.Option {
		d := duration(1, time.Hour).Draw(t, "jitter")
		s.allow(d > 0, func() {}, "WithTimerJitter: bound is %v, want more than 0", d)
		return core.WithTimerJitter(d, nil)
	},
	func(t *rapid.T, s *settings) core.Option {
		d := duration(0, 10*time.Millisecond).Draw(t, "spin")
		s.allow(d >= 0 && d <= 10*time.Millisecond, func() {}, "WithSpin: d is %v, want 0 to 10ms", d)
		return core.WithSpin(d)
	},
	func(t *rapid.T, s *settings) core.Option {
		n := around(1, 100).Draw(t, "ratio")
		s.allow(n >= 1 && n <= 100, func() {}, "WithIORatio: percent is %d, want 1 to 100", n)
		return core.WithIORatio(n)
	},
	func(t *rapid.T, s *settings) core.Option {
		n := around(int(core.DrainChannels), int(core.CloseChannels)).Filter(is32).Draw(t, "policy of channels")
		s.allow(n >= 0 && n <= 1, func() {}, "WithDrain: policy is %d, want DrainChannels or CloseChannels", n)
		return core.WithDrain(core.DrainPolicy(n))
	},
	func(t *rapid.T, s *settings) core.Option {
		s.poller = rapid.SampledFrom([]core.Poller{nil, nil, core.NewParkPoller(nil)}).Draw(t, "poller")
		return core.WithPoller(s.poller)
	},
	func(*rapid.T, *settings) core.Option { return nil },
}

func is32(n int) bool { return n == int(int32(n)) } // policies are small types

// constructor is one of the constructors, with what it says of its arguments.
type constructor struct {
	call   string
	number string // the name of the number that it takes; "": none
	poller string // the mistake of a NewParkPoller; "": none
	prefix string // of a generated name
	make   func(n int, opts []core.Option) (core.EventExecutor, error)
}

func constructors() []constructor {
	shared := "WithPoller is set, want none: a poller serves one "
	cs := []constructor{
		{"NewExecutor", "", "", "executor-", func(_ int, opts []core.Option) (core.EventExecutor, error) { return core.NewExecutor(opts...) }},
		{"NewExecutorGroup", "n", shared + "executor", "executor-", func(n int, opts []core.Option) (core.EventExecutor, error) { return core.NewExecutorGroup(n, opts...) }},
		{"NewPool", "size", shared + "goroutine", "pool-", func(n int, opts []core.Option) (core.EventExecutor, error) { return core.NewPool(n, opts...) }},
	}
	if runtime.GOOS == "linux" {
		watches := fmt.Sprintf("WithPoller has a %T, want an IOPoller: it has to watch descriptors", core.NewParkPoller(nil))
		cs = append(cs,
			constructor{"NewEventLoop", "", watches, "loop-", func(_ int, opts []core.Option) (core.EventExecutor, error) { return core.NewEventLoop(opts...) }},
			constructor{"NewGroup", "n", shared + "executor", "loop-", func(n int, opts []core.Option) (core.EventExecutor, error) { return core.NewGroup(n, opts...) }})
	}
	return cs
}

// checkConstructor compares the result of a constructor with the settings.
func checkConstructor(t *rapid.T, c constructor, n int, opts []core.Option, want settings) {
	poller := ""
	if want.poller != nil && c.poller != "" {
		poller = c.call + ": " + c.poller
	}
	number := ""
	if c.number != "" && n < 1 {
		number = fmt.Sprintf("%s: %s is %d, want at least 1", c.call, c.number, n)
	}
	ex, err := c.make(n, opts)
	if wrong := cmp.Or(want.wrong, poller, number); wrong != "" {
		if !reflect.ValueOf(ex).IsNil() || fmt.Sprint(err) != "core: "+wrong || errors.Is(err, core.ErrRejected) {
			t.Fatalf("%s: got %v, %q, want nil, %q", c.call, ex, err, "core: "+wrong)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v, want no error", c.call, err)
	}
	defer func() {
		if err := ex.Close(); err != nil {
			t.Fatalf("%s: Close: %v", c.call, err)
		}
	}()
	checkNames(t, c, n, ex, want.name)
	if want.limit < 100 {
		if room := roomOf(ex); room != want.limit {
			t.Fatalf("G19: %s: room for %d tasks, want %d", c.call, room, want.limit)
		}
	}
}

// checkNames compares the names of an executor, or of the children of a group.
func checkNames(t *rapid.T, c constructor, n int, ex core.EventExecutor, name string) {
	named := []core.EventExecutor{ex}
	g, isGroup := ex.(*core.Group)
	if isGroup {
		named = named[:0]
		for child := range g.All() {
			named = append(named, child)
		}
		if len(named) != n {
			t.Fatalf("%s(%d): %d children", c.call, n, len(named))
		}
	}
	seen := map[string]bool{}
	for i, ex := range named {
		got := ex.(interface{ Name() string }).Name()
		want := name
		if isGroup && name != "" {
			want = fmt.Sprintf("%s-%d", name, i)
		}
		if seen[got] || name != "" && got != want || name == "" && !strings.HasPrefix(got, c.prefix) {
			t.Fatalf("%s: the name of executor %d is %q, want %q, or %q and a number of its own", c.call, i, got, want, c.prefix)
		}
		seen[got] = true
	}
	if p, ok := ex.(*core.Pool); ok && p.Size() != n {
		t.Fatalf("%s(%d): Size is %d", c.call, n, p.Size())
	}
}

// roomOf returns how many tasks an executor, or a child, accepts while each of its goroutines runs one.
func roomOf(ex core.EventExecutor) (room int) {
	workers := 1
	switch e := ex.(type) {
	case *core.Group:
		ex = e.Next()
	case *core.Pool:
		workers = e.Size()
	}
	began, gate := make(chan struct{}), make(chan struct{})
	for range workers {
		_ = ex.Execute(func() { began <- struct{}{}; <-gate })
		<-began
	}
	for ex.Execute(func() {}) == nil {
		room++
	}
	close(gate)
	return room
}
