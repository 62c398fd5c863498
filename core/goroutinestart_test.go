package core_test

import (
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"

	"github.com/petermattis/goid"
)

// startLog remembers the goroutines that were started.
type startLog struct {
	mu      sync.Mutex
	started map[int64]string // goroutine -> name
}

func (l *startLog) start(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.started == nil {
		l.started = map[int64]string{}
	}
	l.started[goid.Get()] = name
}

func (l *startLog) names() (names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range l.started {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// name returns the name with which the calling goroutine was started.
func (l *startLog) name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.started[goid.Get()]
}

func TestGoroutineStartIsCalledOnEachGoroutineOfTheLoop(t *testing.T) {
	eachMaker := map[string]func(opts ...core.Option) (core.EventExecutor, error){
		"executor": func(opts ...core.Option) (core.EventExecutor, error) { return core.NewExecutor(opts...) },
		"pool":     func(opts ...core.Option) (core.EventExecutor, error) { return core.NewPool(1, opts...) },
	}
	for kind, make := range eachMaker {
		t.Run(kind, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				log := &startLog{}
				made, err := make(core.WithName("bakery"), core.WithGoroutineStart(log.start))
				ex := coretest.EndWithTest(t, made, err)
				if names := log.names(); names != nil {
					t.Errorf("before the first use: %v, want no goroutine", names)
				}
				first, second := "", ""
				coretest.OnLoop(t, ex, func() { first = log.name() })
				coretest.MustExecute(t, ex, runtime.Goexit)
				coretest.OnLoop(t, ex, func() { second = log.name() })
				if first != "bakery" || second != "bakery" {
					t.Errorf("the body's goroutine was started as %q, and the one after Goexit as %q, want bakery", first, second)
				}
				if names := log.names(); len(names) != 2 {
					t.Errorf("started: %v, want two goroutines", names)
				}
			})
		})
	}
}

func TestGoroutineStartNamesTheChild(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		log := &startLog{}
		g := coretest.NewExecutorGroup(t, 2, core.WithName("bakery"), core.WithGoroutineStart(log.start))
		coretest.OnLoop(t, g, func() {})
		coretest.OnLoop(t, g, func() {})
		if names := log.names(); !slices.Equal(names, []string{"bakery-0", "bakery-1"}) {
			t.Errorf("started: %v, want bakery-0 and bakery-1", names)
		}
	})
}

func TestG14PanicOfGoroutineStart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var text coretest.Log
		ex := coretest.NewExecutor(t, core.WithGoroutineStart(func(string) { panic("no labels") }),
			core.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
		coretest.OnLoop(t, ex, func() {})
		if !strings.Contains(text.String(), "no labels") {
			t.Errorf("the log is %q, want the panic", text.String())
		}
	})
}
