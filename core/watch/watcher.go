package watch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"eventide/core"
)

// The defaults of Watcher.Interval and Watcher.Limit.
const (
	DefaultInterval = 100 * time.Millisecond
	DefaultLimit    = time.Second
)

// Watcher reads executors periodically. The zero Watcher is ready for use. Its fields must
// not be changed after the first call of Run; its methods may be called from any goroutine,
// even inside bodies. A Watcher must not be copied.
type Watcher struct {
	// Interval is the time between two readings. 0 or less: DefaultInterval.
	Interval time.Duration

	// Limit is how long a body may run before it is reported as stalled. 0: DefaultLimit;
	// negative: no body is reported. A Limit below Interval has the effect of Interval,
	// because the Watcher sees bodies only at readings.
	Limit time.Duration

	// Logger receives each stall at Warn, and its end at Info. nil: slog.Default() at the
	// time of the stall.
	Logger *slog.Logger

	// OnStall, if not nil, receives each stall and its end in place of the Logger. It is
	// called on the goroutine of Run, which waits for it to return. A panic of OnStall is
	// logged.
	OnStall func(Stall)

	mu        sync.Mutex
	running   bool
	subjects  []*subject
	names     map[string]bool // of subjects
	listeners []*waitListener
}

// waitListener is a function given to OnWait.
type waitListener struct {
	call func(name string, wait time.Duration)
}

// Watch adds executors, event loops and pools, and each child of a group. It does not start
// them. The Watcher drops an executor that has terminated. It also accepts a type that
// embeds one of these types. Any other type is an error, and so is nil or a nil pointer. If Watch
// returns an error, it has added nothing.
//
// An executor is listed under its name (core.WithName). If the name is in use, "#2" or a
// higher number is appended, so that names are unique.
func (w *Watcher) Watch(executors ...core.EventExecutor) error {
	var added []*subject
	for i, ex := range executors {
		found, err := subjectsOf(ex)
		if err != nil {
			return fmt.Errorf("watch: Watch: executor %d: %w", i, err)
		}
		added = append(added, found...)
	}
	w.add(added...)
	return nil
}

func subjectsOf(ex core.EventExecutor) ([]*subject, error) {
	if v := reflect.ValueOf(ex); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("it is a nil %T, want an executor", ex)
	}
	switch ex := ex.(type) {
	case nil:
		return nil, errors.New("it is nil, want an executor")
	case interface {
		core.EventExecutor
		Name() string
		NewMeter() *core.Meter
	}:
		_, pool := ex.(interface{ Resize(int) error })
		source := &executorSource{ex: ex, pool: pool}
		return []*subject{{name: ex.Name(), ended: terminated(ex.Termination()), source: source, stack: source.stack}}, nil
	case interface {
		All() iter.Seq[core.EventExecutor]
	}:
		var all []*subject
		for child := range ex.All() {
			found, err := subjectsOf(child)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("it is a %T, want a *core.Executor, *core.EventLoop, *core.Pool or *core.Group, or a type that embeds one", ex)
}

func (w *Watcher) add(added ...*subject) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.names == nil {
		w.names = map[string]bool{}
	}
	for _, s := range added {
		name := s.name
		for n := 2; w.names[s.name]; n++ {
			s.name = fmt.Sprintf("%s#%d", name, n)
		}
		w.names[s.name] = true
		w.subjects = append(w.subjects, s)
	}
}

// OnWait registers call: Run calls it with each sample of a wait (core.Reading.Waits),
// until stop is called. When stop returns, one call may still be about to begin or running,
// and no other follows. Run waits for call to return, and call must not panic. A nil call is
// ignored.
func (w *Watcher) OnWait(call func(name string, wait time.Duration)) (stop func()) {
	l := &waitListener{call}
	w.mu.Lock()
	defer w.mu.Unlock()
	if call != nil {
		w.listeners = append(w.listeners, l)
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.listeners = slices.DeleteFunc(w.listeners, func(other *waitListener) bool { return other == l })
	}
}

// Run reads the executors until ctx ends, and then returns nil. It starts no goroutine. A
// second call while Run runs returns an error; a call after it has returned does not. A nil ctx
// is an error, and nothing is read. In a function of a tracked.Group, pass the group's
// ShutdownContext to Run: the context of the function ends only when the group closes.
func (w *Watcher) Run(ctx context.Context) error {
	if ctx == nil {
		return errors.New("watch: Run: ctx is nil, want a context")
	}
	w.mu.Lock()
	if w.running {
		w.mu.Unlock()
		return errors.New("watch: Run: the Watcher is running already")
	}
	w.running = true
	w.mu.Unlock()
	defer w.end()

	interval := w.Interval
	if interval <= 0 {
		interval = DefaultInterval
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for last := time.Now(); ; {
		now := time.Now()
		w.read(now, min(now.Sub(last), 2*interval))
		last = now
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// end closes the meters. Statuses still returns the last reading.
func (w *Watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	for _, s := range w.subjects {
		s.source.close()
		s.seen = nil
	}
}

// read reads each executor, and then, after it has released mu, reports waits and stalls.
// passed is the time since the last reading, but at most two intervals: a longer gap means
// that the process may have been stopped, and then its bodies did not run either.
func (w *Watcher) read(now time.Time, passed time.Duration) {
	var stalls []Stall
	var waits []namedWait
	w.mu.Lock()
	w.subjects = slices.DeleteFunc(w.subjects, func(s *subject) bool {
		ended := s.ended() // before the reading, so that the last one is complete
		for _, wait := range s.read(now) {
			waits = append(waits, namedWait{s.name, wait})
		}
		stalls = append(stalls, s.watchdog(passed, w.limit())...)
		if ended {
			s.source.close()
			delete(w.names, s.name)
		}
		return ended
	})
	listeners := slices.Clone(w.listeners)
	w.mu.Unlock()
	for _, l := range listeners {
		for _, wait := range waits {
			if w.listens(l) {
				l.call(wait.name, wait.wait)
			}
		}
	}
	for _, s := range stalls {
		w.report(s)
	}
}

// listens reports whether l has not been stopped.
func (w *Watcher) listens(l *waitListener) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.listeners, l)
}

type namedWait struct {
	name string
	wait time.Duration
}

func (w *Watcher) limit() time.Duration {
	if w.Limit == 0 {
		return DefaultLimit
	}
	return w.Limit
}

// Statuses returns the results of the last reading, in the order in which the executors were
// added. It does not read the executors, so it waits for none of them.
func (w *Watcher) Statuses() []Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]Status, 0, len(w.subjects))
	for _, s := range w.subjects {
		st := s.status
		st.Name, st.Running = s.name, slices.Clone(st.Running)
		all = append(all, st)
	}
	return all
}
