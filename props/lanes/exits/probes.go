//go:build linux

package exits

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"eventide/core/process"
)

// progress is how many tasks an executor had run, and since when that number is the same while
// tasks wait.
type progress struct {
	ran   int64
	since time.Duration
}

// look is when somebody looks whether executors are stuck: a liveness probe, or the watchdog.
type look struct {
	at    time.Duration
	limit time.Duration
	probe int // or -1
}

// looks returns all looks, in their order: those of the watchdog until the end of the exit, but at least the
// first, which it makes before it can be stopped.
func (r *run) looks() (all []look) {
	m := r.p.Manager
	if m.Address != "" && m.Watchdog > 0 && m.Pid != "other" {
		for at := time.Duration(0); at == 0 || at < r.want.now; at += ms(m.Watchdog) / 2 {
			all = append(all, look{at, ms(m.Watchdog), -1})
		}
	}
	for i := range r.p.Probes {
		all = append(all, look{probeAt(r.p, i), orDefault(ms(r.p.StuckAfter), process.DefaultStuckAfter), i})
	}
	slices.SortFunc(all, func(a, b look) int { return int(a.at - b.at) })
	return all
}

// stuck returns the executors that are stuck at each look.
func (r *run) stuck() (all [][]string) {
	last := map[string]progress{}
	for _, l := range r.looks() {
		var names []string
		for i, s := range r.p.Steps {
			for member := range s.members() {
				name := fmt.Sprint("step ", i)
				if s.Kind == "group" {
					name += fmt.Sprintf("[%d]", member)
				}
				ran := r.p.ran(i, l.at)
				before, known := last[name]
				if !known || before.ran != ran || ran == int64(s.Tasks) && s.lost() == 0 {
					last[name] = progress{ran, l.at}
				} else if l.at-before.since >= l.limit {
					names = append(names, name)
				}
			}
		}
		all = append(all, names)
	}
	return all
}

// watchdog returns what the service manager is told by the watchdog before the end of the exit.
func (r *run) watchdog() (all []string) {
	stuck := r.stuck()
	for i, l := range r.looks() {
		if l.probe < 0 && l.at < r.want.now && len(stuck[i]) == 0 {
			all = append(all, fmt.Sprintf("%v WATCHDOG=1", l.at))
		}
	}
	return all
}

// probe makes a probe of readiness and of liveness.
func (r *run) probe(i int) {
	x, at := r.want, time.Since(r.began)
	code, text := answer(r.health.Readiness())
	r.record(outside, "probe of readiness: %d %s", code, strings.TrimSpace(text))
	wantCode, want := http.StatusServiceUnavailable, "not ready: starting"
	switch {
	case at >= x.begin:
		want = "not ready: the exit has begun"
	case at >= x.readyAt:
		wantCode, want = http.StatusOK, "ready"
	}
	if code != wantCode || !strings.HasPrefix(text, want) || at >= x.begin && len(text) <= len(want)+3 {
		r.violate("the readiness probe answers %d %q, want %d %q", code, text, wantCode, want)
	}
	code, text = answer(r.health.Liveness())
	r.record(outside, "probe of liveness: %d %s", code, strings.TrimSpace(text))
	wantCode, want = http.StatusOK, "alive\n"
	stuck := r.stuck()
	for n, l := range r.looks() {
		if l.probe == i && len(stuck[n]) > 0 {
			wantCode, want = http.StatusServiceUnavailable, "stuck: "+strings.Join(stuck[n], ", ")+"\n"
		}
	}
	if code != wantCode || text != want {
		r.violate("the liveness probe answers %d %q, want %d %q", code, text, wantCode, want)
	}
}
