package watch

import (
	"log/slog"
	"time"

	"eventide/core"
	"eventide/core/tcp"
	"eventide/core/tracked"
)

// subject is a watched executor, group of functions or listener. Guarded by Watcher.mu.
type subject struct {
	name   string
	ended  func() bool
	source source
	stack  func(core.RunningBody) string // of an executor; nil for others, whose bodies do not stall
	status Status
	seen   map[core.RunningBody]*stalling
}

// source reads a subject. read fills st, and returns the waits since the last call.
type source interface {
	read(now time.Time, st *Status) []time.Duration
	close()
}

// terminated returns a function that reports whether Done of term is closed.
func terminated(term *core.Termination) func() bool {
	return func() bool {
		select {
		case <-term.Done():
			return true
		default:
			return false
		}
	}
}

func (s *subject) read(now time.Time) []time.Duration {
	s.status.Running = nil
	return s.source.read(now, &s.status)
}

// executorSource is an executor, an event loop or a pool.
type executorSource struct {
	ex     interface{ NewMeter() *core.Meter }
	pool   bool
	meter  *core.Meter   // nil: not read yet by this Run
	before time.Duration // BusyTime of earlier Runs
	recent recent
}

func (e *executorSource) read(now time.Time, st *Status) []time.Duration {
	if e.meter == nil {
		e.meter, e.before, e.recent = e.ex.NewMeter(), st.BusyTime, recent{}
	}
	r := e.meter.Read()
	if e.pool { // else KindExecutor, the zero Kind
		st.Kind = KindPool
	}
	e.recent.roll(now, r.Elapsed, r.Busy)
	for _, wait := range r.Waits {
		st.Lag.add(wait)
		e.recent.lag = max(e.recent.lag, wait)
	}
	st.Stats, st.BusyTime, st.Busy = r.Stats, e.before+r.Busy, e.recent.share(r.Elapsed, r.Busy)
	st.Oldest, st.RecentLag = r.Oldest, max(e.recent.lag, e.recent.lagBefore)
	for _, body := range r.Running {
		st.Running = append(st.Running, Running{Body: body.Kind.String(), body: body})
	}
	return r.Waits
}

func (e *executorSource) stack(body core.RunningBody) string { return e.meter.Stack(body) }

func (e *executorSource) close() {
	if e.meter != nil {
		e.meter.Close()
		e.meter = nil
	}
}

// WatchFunctions adds the functions of a tracked.Group under the given name. A function
// counts as a task. A function may run for any length of time: it is never reported as
// stalled. A nil group is logged and ignored.
func (w *Watcher) WatchFunctions(name string, g *tracked.Group) {
	if g == nil {
		w.log(slog.LevelError, "WatchFunctions: the group is nil: nothing is watched", "name", name)
		return
	}
	w.add(&subject{name: name, ended: terminated(g.Termination()), source: functions{g}})
}

type functions struct{ group *tracked.Group }

func (f functions) read(now time.Time, st *Status) []time.Duration {
	r := f.group.Report()
	st.Kind = KindFunctions
	st.Stats = core.Stats{
		State: f.group.State(), Accepted: r.Accepted, Ran: r.Ran, Pending: r.Accepted - r.Ran,
		Rejected: r.Rejected, Panicked: r.Panicked,
	}
	for _, one := range f.group.Functions() {
		st.Running = append(st.Running, Running{Body: one.Name, For: now.Sub(one.Began)})
	}
	return nil
}

func (functions) close() {}

// WatchListener adds the counters of a listener under the given name. The Watcher drops a
// listener that has closed. A nil listener is logged and ignored.
func (w *Watcher) WatchListener(name string, l *tcp.Listener) {
	if l == nil {
		w.log(slog.LevelError, "WatchListener: the listener is nil: nothing is watched", "name", name)
		return
	}
	w.add(&subject{name: name, ended: func() bool { return l.CloseCause() != nil }, source: listener{l}})
}

type listener struct{ of *tcp.Listener }

func (l listener) read(_ time.Time, st *Status) []time.Duration {
	s := l.of.Stats()
	st.Kind = KindListener
	st.Connections, st.RefusedConnections, st.Pauses = s.Accepted, s.Refused, s.Paused
	return nil
}

func (listener) close() {}
