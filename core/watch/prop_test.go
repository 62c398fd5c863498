package watch_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tracked"
	"eventide/core/watch"

	"pgregory.net/rapid"
)

func init() {
	// A mechanical mutant must not be found by what another one has left behind.
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "3s"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}

// plan is the life of some subjects and of their Watcher. Times are in ticks, which are the readings;
// what happens at tick n happens between that reading and the next one.
type plan struct {
	Interval, Limit time.Duration
	Log             bool // no OnStall
	Subjects        []planned
	Ticks           int
	Stops           int // Run is called again after this tick; 0: it is not
	StopListening   int // the function of OnWait is taken back after this tick
}

// planned is a subject and its work.
type planned struct {
	Kind watch.Kind
	Name string
	Size int // of a pool
	From int // it is watched from this tick on
	Ends int // its shutdown; 0: after the last tick
	Work []work
}

// work is some functions that are submitted together.
type work struct {
	At, Bodies, Lasts int
	Timer             bool
	Panics            bool
}

func drawPlan(t *rapid.T) plan {
	p := plan{
		Interval: rapid.SampledFrom([]time.Duration{0, 20 * time.Millisecond, 700 * time.Millisecond, 4 * time.Second, 5 * time.Second}).Draw(t, "interval"),
		Limit:    rapid.SampledFrom([]time.Duration{0, -1, 1, 50 * time.Millisecond, 3 * time.Second}).Draw(t, "limit"),
		Log:      rapid.Bool().Draw(t, "log"),
		Ticks:    rapid.IntRange(2, 40).Draw(t, "ticks"),
	}
	tick := rapid.IntRange(0, p.Ticks)
	p.StopListening = tick.Draw(t, "stop listening")
	if rapid.IntRange(1, 3).Draw(t, "stops") == 1 {
		p.Stops = tick.Draw(t, "stop")
	}
	p.Subjects = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) planned {
		s := planned{
			Kind: rapid.SampledFrom([]watch.Kind{watch.KindExecutor, watch.KindExecutor, watch.KindPool, watch.KindFunctions}).Draw(t, "kind"),
			Name: rapid.SampledFrom([]string{"a", "a", "b", "a#2"}).Draw(t, "name"), Size: rapid.IntRange(1, 3).Draw(t, "size"),
		}
		if rapid.IntRange(1, 3).Draw(t, "late") == 1 {
			s.From = tick.Draw(t, "from")
		}
		if rapid.IntRange(1, 3).Draw(t, "early") == 1 {
			s.Ends = tick.Draw(t, "ends")
		}
		s.Work = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) work {
			return work{
				At: tick.Draw(t, "at"), Bodies: rapid.IntRange(1, 4).Draw(t, "bodies"), Lasts: rapid.IntRange(0, 6).Draw(t, "lasts"),
				Timer: rapid.IntRange(1, 4).Draw(t, "timer") == 1, Panics: rapid.IntRange(1, 8).Draw(t, "panics") == 1,
			}
		}), 0, 6).Draw(t, "work")
		return s
	}), 1, 4).Draw(t, "subjects")
	return p
}

func (p plan) interval() time.Duration { return cmp.Or(p.Interval, 100*time.Millisecond) }
func (p plan) limit() time.Duration    { return cmp.Or(p.Limit, time.Second) }

// TestPropStatuses: at each reading, the statuses of a Watcher, its JSON, the stalls and the waits that
// it reports are what the readings of meters of our own say.
func TestPropStatuses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		for range 8 {
			p := drawPlan(rt)
			var wrong string
			synctest.Test(t, func(t *testing.T) {
				o := &observer{p: p, w: &watch.Watcher{Interval: p.Interval, Limit: p.Limit}, last: map[string]float64{}}
				wrong = o.run(t)
			})
			if wrong != "" {
				rt.Fatal(wrong)
			}
		}
	})
}

// observer runs a plan.
type observer struct {
	p        plan
	w        *watch.Watcher
	subjects []*observed // those that are watched, in the order added
	stalls   stallLog
	logged   coretest.Log
	waits    []string // what OnWait got

	last map[string]float64 // of each metric of a name

	wantStalls []watch.Stall
	wantWaits  []string
}

// observed is a subject with a meter of our own.
type observed struct {
	plan  planned
	name  string // unique
	ex    core.EventExecutor
	group *tracked.Group
	meter *core.Meter

	busyBefore time.Duration // of earlier meters
	lag        watch.Lag
	stalls     int64
	readings   []reading
	windows    []int // the first readings of each 10 seconds
	since      map[core.RunningBody]int
	told       map[core.RunningBody]bool
	made       []*core.Meter // those that the Watcher has made
}

type reading struct {
	at            time.Time
	elapsed, busy time.Duration
	longest       time.Duration // of the waits
}

// run returns the first difference, or "".
func (o *observer) run(t *testing.T) (wrong string) {
	if !o.p.Log {
		o.w.OnStall = o.stalls.add
	}
	o.w.Logger = slog.New(slog.NewTextHandler(&o.logged, nil))
	stopListening := o.w.OnWait(func(name string, wait time.Duration) { o.waits = append(o.waits, fmt.Sprint(name, " ", wait)) })
	var all []*observed
	defer func() {
		for _, s := range all {
			s.shutdown()
		}
		synctest.Wait()
		time.Sleep(time.Hour) // the bodies end
	}()
	for _, s := range o.p.Subjects {
		all = append(all, newObserved(t, s))
	}
	add := func(tick int) {
		for _, s := range all {
			if s.plan.From == tick {
				o.watch(t, s)
			}
		}
	}
	add(0)
	stop := o.begin(t)
	for tick := 0; ; tick++ {
		if o.w.Run(t.Context()) == nil {
			return "a second Run beside the first returns nil"
		}
		if wrong = o.check(tick <= o.p.StopListening || o.p.StopListening == 0); wrong != "" || tick == o.p.Ticks {
			return cmp.Or(stop(), wrong)
		}
		began := time.Now()
		for _, s := range all {
			s.work(t, tick, o.p.interval())
			if s.plan.Ends > 0 && s.plan.Ends == tick {
				s.shutdown()
			}
		}
		if tick > 0 {
			add(tick)
		}
		if tick == o.p.StopListening && tick > 0 {
			stopListening()
		}
		if tick > 0 && tick == o.p.Stops {
			if wrong := stop(); wrong != "" {
				return wrong
			}
			if wrong := o.stopped(); wrong != "" {
				return wrong
			}
			time.Sleep(o.p.interval() / 2)
			stop = o.begin(t)
			continue
		}
		time.Sleep(time.Until(began.Add(o.p.interval())))
		synctest.Wait()
	}
}

// begin calls Run, and returns after its first reading. stop ends it.
func (o *observer) begin(t *testing.T) (stop func() (wrong string)) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.w.Run(ctx) }()
	synctest.Wait()
	return func() string {
		cancel()
		if err := <-ended; err != nil {
			return fmt.Sprintf("Run returns %v when its context ends", err)
		}
		return ""
	}
}

func newObserved(t *testing.T, p planned) *observed {
	s := &observed{plan: p, since: map[core.RunningBody]int{}, told: map[core.RunningBody]bool{}}
	opts := []core.Option{core.WithName(p.Name), core.WithLogger(slog.New(slog.DiscardHandler))}
	var err error
	switch p.Kind {
	case watch.KindPool:
		var pool *core.Pool
		pool, err = core.NewPool(p.Size, opts...)
		s.ex = spiedPool{pool, s}
	case watch.KindFunctions:
		s.group = quietGroup()
	default:
		var ex *core.Executor
		ex, err = core.NewExecutor(opts...)
		s.ex = spiedExecutor{ex, s}
	}
	coretest.Must(t, err)
	return s
}

// watch adds a subject, whose name gets a number if it is in use.
func (o *observer) watch(t *testing.T, s *observed) {
	s.name = s.plan.Name
	for n := 2; slices.ContainsFunc(o.subjects, func(other *observed) bool { return other.name == s.name }); n++ {
		s.name = fmt.Sprintf("%s#%d", s.plan.Name, n)
	}
	o.subjects = append(o.subjects, s)
	maps.DeleteFunc(o.last, func(key string, _ float64) bool { return strings.HasPrefix(key, s.name+" ") }) // of one that has ended
	if s.group != nil {
		o.w.WatchFunctions(s.plan.Name, s.group)
		return
	}
	coretest.Must(t, o.w.Watch(s.ex))
}

func (s *observed) shutdown() {
	if s.group != nil {
		s.group.Shutdown()
	} else {
		s.ex.Shutdown()
	}
}

// work submits what the plan says. No body begins or ends at the time of a reading.
func (s *observed) work(t *testing.T, tick int, interval time.Duration) {
	for n, w := range s.plan.Work {
		if w.At != tick {
			continue
		}
		for i := range w.Bodies {
			lasts := interval*time.Duration(w.Lasts)/2 + time.Duration(1+i+10*n)
			body := func() {
				time.Sleep(lasts)
				if w.Panics {
					panic("of the plan")
				}
			}
			switch {
			case s.group != nil:
				_ = s.group.Go(fmt.Sprint("f", n), func(context.Context) error { body(); return nil })
			case w.Timer:
				_, _ = s.ex.Schedule(lasts/2+time.Nanosecond, body)
			default:
				_ = s.ex.Execute(body)
			}
		}
	}
	time.Sleep(1001) // the next submissions are of another time
	synctest.Wait()
}

// check compares everything after a reading.
func (o *observer) check(listens bool) string {
	statuses := o.w.Statuses()
	var want []watch.Status
	left := o.subjects[:0]
	before := len(o.wantWaits)
	for _, s := range o.subjects {
		ended := s.isOver()
		st := s.read(o)
		if !ended {
			left, want = append(left, s), append(want, st)
		} else if s.hasOpenMeter() {
			return fmt.Sprintf("a meter of %s is open, which has ended", s.name)
		}
	}
	if !listens {
		o.wantWaits = o.wantWaits[:before]
	}
	o.subjects = left
	if len(statuses) != len(want) {
		return fmt.Sprintf("%d statuses, want %d: %+v", len(statuses), len(want), statuses)
	}
	for i, got := range statuses {
		if wrong := differs(got, want[i]); wrong != "" {
			return wrong
		}
	}
	if !slices.Equal(o.waits, o.wantWaits) {
		return fmt.Sprintf("OnWait got %v, want %v", o.waits, o.wantWaits)
	}
	if wrong := o.checkStalls(); wrong != "" {
		return wrong
	}
	return cmp.Or(checkJSON(o.w.String(), want), o.checkMetrics(statuses))
}
