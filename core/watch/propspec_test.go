package watch_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"eventide/core"
	"eventide/core/watch"
)

// isOver reports whether a subject has terminated, and is dropped after this reading.
func (s *observed) isOver() bool {
	if s.group != nil {
		return s.group.State() == core.StateTerminated
	}
	return s.ex.State() == core.StateTerminated
}

// read returns the status of a subject by our own readings, and adds the waits and stalls.
func (s *observed) read(o *observer) watch.Status {
	st := watch.Status{Name: s.name, Kind: s.plan.Kind}
	if s.group != nil {
		r := s.group.Report()
		st.Stats = core.Stats{State: s.group.State(), Accepted: r.Accepted, Ran: r.Ran, Pending: r.Accepted - r.Ran, Rejected: r.Rejected, Panicked: r.Panicked}
		for _, f := range s.group.Functions() {
			st.Running = append(st.Running, watch.Running{Body: f.Name, For: time.Since(f.Began)})
		}
		return st
	}
	if s.meter == nil {
		s.meter = s.newMeter()
		s.readings, s.windows = nil, nil
	}
	r := s.meter.Read()
	now := reading{at: time.Now(), elapsed: r.Elapsed, busy: r.Busy}
	for _, wait := range r.Waits {
		now.longest = max(now.longest, wait)
		s.lag.Count++
		s.lag.Sum += wait
		for i, bound := range lagBounds {
			if wait <= bound {
				s.lag.Buckets[i]++
			}
		}
		o.wantWaits = append(o.wantWaits, fmt.Sprint(s.name, " ", wait))
	}
	s.readings = append(s.readings, now)
	st.Busy, st.RecentLag = s.recent()
	st.Stats, st.BusyTime, st.Lag, st.Oldest = r.Stats, s.busyBefore+r.Busy, s.lag, r.Oldest
	s.runs(o, &st, r.Running)
	st.Stalls = s.stalls
	return st
}

// recent returns the busy share and the longest wait since the begin of the window of 10 seconds
// before the current one, or since the first reading.
func (s *observed) recent() (busy float64, lag time.Duration) {
	last := len(s.readings) - 1
	now := s.readings[last]
	if n := len(s.windows); n == 0 || now.at.Sub(s.readings[s.windows[n-1]].at) >= 10*time.Second {
		s.windows = append(s.windows, last)
	}
	from := s.windows[max(0, len(s.windows)-2)]
	base := reading{} // the meter's begin, which is the first reading
	if from > 0 {
		base = s.readings[from]
	}
	for _, r := range s.readings[from:] {
		lag = max(lag, r.longest)
	}
	if now.elapsed > base.elapsed {
		busy = float64(now.busy-base.busy) / float64(now.elapsed-base.elapsed)
	}
	return busy, lag
}

// runs adds the running bodies and finds stalls: a body counts from the first reading that found it.
func (s *observed) runs(o *observer, st *watch.Status, running []core.RunningBody) {
	this := len(s.readings) - 1
	since := map[core.RunningBody]int{}
	ago := func(first int) time.Duration { return time.Duration(this-first) * o.p.interval() }
	for _, body := range running {
		first, known := s.since[body]
		if !known {
			first = this
		}
		since[body] = first
		st.Running = append(st.Running, watch.Running{Body: body.Kind.String(), For: ago(first)})
		if o.p.limit() >= 0 && ago(first) >= o.p.limit() && !s.told[body] {
			s.told[body] = true
			s.stalls++
			o.wantStalls = append(o.wantStalls, watch.Stall{Name: s.name, Body: body.Kind, For: ago(first)})
		}
	}
	var over []watch.Stall
	for body, first := range s.since {
		if _, runs := since[body]; !runs && s.told[body] {
			over = append(over, watch.Stall{Name: s.name, Body: body.Kind, For: ago(first), Over: true})
		}
	}
	slices.SortFunc(over, func(a, b watch.Stall) int { return cmp.Compare(a.For, b.For) })
	o.wantStalls = append(o.wantStalls, over...)
	s.since = since
}

// checkStalls compares the stalls, the ends of one reading in any order.
func (o *observer) checkStalls() string {
	if o.p.Log {
		text := o.logged.String()
		begun, ended := strings.Count(text, "body is stalled"), strings.Count(text, "stalled body has ended")
		over := 0
		for _, s := range o.wantStalls {
			if s.Over {
				over++
			}
		}
		if begun != len(o.wantStalls)-over || ended != over {
			return fmt.Sprintf("the log has %d stalls and %d ends, want %d and %d", begun, ended, len(o.wantStalls)-over, over)
		}
		return ""
	}
	got := o.stalls.all()
	if len(got) != len(o.wantStalls) {
		return fmt.Sprintf("OnStall got %v, want %v", got, o.wantStalls)
	}
	key := func(s watch.Stall) string { return fmt.Sprint(s.Name, s.Body, s.For, s.Over) }
	var have, want []string
	for i, s := range got {
		if (s.Stack == "") != s.Over || !s.Over && !strings.Contains(s.Stack, "watch_test") {
			return fmt.Sprintf("the stack of %v is %q", s.Name, s.Stack)
		}
		have, want = append(have, key(s)), append(want, key(o.wantStalls[i]))
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		return fmt.Sprintf("OnStall got %q, want %q", have, want)
	}
	return ""
}

// differs compares two statuses.
func differs(got, want watch.Status) string {
	share := got.Busy - want.Busy
	if share < 1e-9 && share > -1e-9 {
		got.Busy = want.Busy
	}
	ages := func(all []watch.Running) (texts []string) {
		for _, r := range all {
			texts = append(texts, fmt.Sprint(r.Body, " ", r.For))
		}
		slices.Sort(texts)
		return texts
	}
	running, wantRunning := ages(got.Running), ages(want.Running)
	longest := time.Duration(0)
	for _, r := range want.Running {
		longest = max(longest, r.For)
	}
	if got.Longest() != longest {
		return fmt.Sprintf("Longest of %s is %v, want %v", got.Name, got.Longest(), longest)
	}
	got.Running, want.Running = nil, nil
	if !reflect.DeepEqual(got, want) || !slices.Equal(running, wantRunning) {
		return fmt.Sprintf("got %+v with %q, want %+v with %q", got, running, want, wantRunning)
	}
	return ""
}

// stopped prepares for another Run: the last statuses stay, and what is recent begins again.
func (o *observer) stopped() (wrong string) {
	for _, s := range o.subjects {
		if s.hasOpenMeter() {
			wrong = fmt.Sprintf("after Run a meter of %s is open", s.name)
		}
		if s.meter != nil {
			s.busyBefore += s.readings[len(s.readings)-1].busy
			s.meter.Close()
			s.meter = nil
		}
		clear(s.since)
		clear(s.told)
	}
	return wrong
}

// numbers is the documentation of Metrics.
func numbers(s watch.Status) map[string]float64 {
	all := map[string]float64{
		"state": float64(s.Stats.State), "tasks.accepted": float64(s.Stats.Accepted), "tasks.ran": float64(s.Stats.Ran),
		"tasks.cancelled": float64(s.Stats.Cancelled), "tasks.rejected": float64(s.Stats.Rejected), "tasks.pending": float64(s.Stats.Pending),
		"bodies.panicked": float64(s.Stats.Panicked), "running.body.age": s.Longest().Seconds(),
	}
	switch s.Kind {
	case watch.KindListener:
		return map[string]float64{
			"connections.accepted": float64(s.Connections), "connections.refused": float64(s.RefusedConnections), "accept.pauses": float64(s.Pauses),
		}
	case watch.KindFunctions:
		return all
	}
	maps.Copy(all, map[string]float64{
		"oldest.task.age": s.Oldest.Seconds(), "stalls": float64(s.Stalls), "busy.time": s.BusyTime.Seconds(),
		"timers.pending": float64(s.Stats.Timers), "timers.run": float64(s.Stats.TimersRun), "timers.cancelled": float64(s.Stats.TimersCancelled),
		"hooks.run": float64(s.Stats.HooksRun), "sleeps": float64(s.Stats.Parks + s.Stats.Spins), "wakeups": float64(s.Stats.Wakes),
		"busy": s.Busy, "lag.recent": s.RecentLag.Seconds(), "lag.sum": s.Lag.Sum.Seconds(), "lag.count": float64(s.Lag.Count),
	})
	if s.Kind == watch.KindPool {
		all["workers"], all["workers.busy"] = float64(s.Stats.Workers), float64(s.Stats.Busy)
		return all
	}
	all["registrations"], all["poller.rebuilds"] = float64(s.Stats.Registrations), float64(s.Stats.Rebuilds)
	return all
}

// checkJSON compares String with the numbers of the statuses.
func checkJSON(text string, statuses []watch.Status) string {
	got, want := map[string]map[string]float64{}, map[string]map[string]float64{}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return err.Error()
	}
	for _, s := range statuses {
		want[s.Name] = numbers(s)
	}
	for name, all := range want {
		if share := got[name]["busy"] - all["busy"]; share < 1e-9 && share > -1e-9 && got[name] != nil {
			if _, has := all["busy"]; has {
				all["busy"] = got[name]["busy"]
			}
		}
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("String says %v, want %v", got, want)
	}
	return ""
}

// lagBounds are the bounds of the buckets of Lag.
var lagBounds = []time.Duration{
	100 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second, time.Minute,
}

// units has the unit of each metric, and whether it is a counter.
var units = map[string]struct {
	unit    string
	counter bool
}{
	"state": {"", false}, "tasks.accepted": {"{task}", true}, "tasks.ran": {"{task}", true}, "tasks.cancelled": {"{task}", true},
	"tasks.rejected": {"{task}", true}, "tasks.pending": {"{task}", false}, "oldest.task.age": {"s", false}, "running.body.age": {"s", false},
	"stalls": {"{stall}", true}, "busy.time": {"s", true}, "bodies.panicked": {"{body}", true}, "timers.pending": {"{timer}", false},
	"timers.run": {"{run}", true}, "timers.cancelled": {"{timer}", true}, "hooks.run": {"{hook}", true}, "sleeps": {"{sleep}", true},
	"wakeups": {"{wakeup}", true}, "registrations": {"{registration}", false}, "poller.rebuilds": {"{rebuild}", true},
	"workers": {"{worker}", false}, "workers.busy": {"{worker}", false}, "connections.accepted": {"{connection}", true},
	"connections.refused": {"{connection}", true}, "accept.pauses": {"{pause}", true},
}

// checkMetrics compares the metrics of the statuses with their documentation, and the counters with
// their last values: they never fall.
func (o *observer) checkMetrics(statuses []watch.Status) string {
	if len(watch.Metrics()) != len(units) {
		return fmt.Sprintf("there are %d metrics, want %d", len(watch.Metrics()), len(units))
	}
	if bounds := watch.LagBounds(); !slices.Equal(bounds, lagBounds) {
		return fmt.Sprintf("the bounds of the lag are %v, want %v", bounds, lagBounds)
	}
	lag := watch.LagMetric()
	for _, s := range statuses {
		v, ok := lag.Value(s)
		if want, has := numbers(s)["lag.sum"]; ok != has || v != want || lag.Name != "lag" || lag.Unit != "s" || !lag.Counter || lag.Help == "" {
			return fmt.Sprintf("the metric %q of %s in %q is %v, %v; want %v, %v", lag.Name, s.Name, lag.Unit, v, ok, want, has)
		}
	}
	for _, m := range watch.Metrics() {
		if want := units[m.Name]; m.Unit != want.unit || m.Counter != want.counter || m.Help == "" {
			return fmt.Sprintf("metric %q has the unit %q and is a counter: %v; want %+v", m.Name, m.Unit, m.Counter, want)
		}
		for _, s := range statuses {
			v, ok := m.Value(s)
			if want, has := numbers(s)[m.Name]; ok != has || v != want {
				return fmt.Sprintf("metric %q of %s is %v, %v; want %v, %v", m.Name, s.Name, v, ok, want, has)
			}
			key := s.Name + " " + m.Name
			if ok && m.Counter && v < o.last[key] {
				return fmt.Sprintf("the counter %q of %s has fallen from %v to %v", m.Name, s.Name, o.last[key], v)
			}
			o.last[key] = v
		}
	}
	return ""
}
