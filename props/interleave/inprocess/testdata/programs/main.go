// Command programs runs small programs under embedded schedules, and checks the verdicts
// of every strategy. It prints a line for each check, and ends with 1 if one is wrong.
package main

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventide/props/interleave/inprocess"
)

func main() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	if !inprocess.Controlled() {
		fmt.Println("WRONG: built without the overlay")
		os.Exit(1)
	}
	time.NewTicker(time.Hour).Stop() // the first one of a process has operations of its own
	failed := false
	report := func(name, wrong string) {
		if failed = failed || wrong != ""; wrong != "" {
			fmt.Println("WRONG", name+":", wrong)
		} else {
			fmt.Println("ok", name)
		}
	}
	for _, p := range programs {
		for _, name := range append(inprocess.Names(), inprocess.Exhaustive) {
			if p.time != inprocess.Idle && name == inprocess.Exhaustive {
				continue // its clock never moves early
			}
			report(p.name+" by "+name, p.hunt(name))
		}
	}
	report("the clock", clock())
	report("a clock that waits", waits())
	report("timers of the schedule before", abandonedTimers())
	report("yield", yields())
	report("unfairness", unfair())
	report("the chance of pct", chance())
	report("exhaustive", exhaustive())
	report("a repaired program", repaired())
	report("a trace", trace())
	report("races", races())
	if failed {
		os.Exit(1)
	}
}

// A program has a bug that some schedules show.
type program struct {
	name string
	want inprocess.Verdict // Finished: run reports whether the bug has shown
	time inprocess.TimeMode
	run  func() bool
}

var programs = []program{
	{"a lost update", inprocess.Finished, inprocess.Idle, lostUpdate},
	{"a lost wake-up", inprocess.Deadlocked, inprocess.Idle, func() bool { lostWakeUp(false); return false }},
	{"a leak", inprocess.Leaked, inprocess.Idle, leak},
	{"a panic", inprocess.Panicked, inprocess.Idle, panics},
	{"a livelock", inprocess.Livelocked, inprocess.Idle, livelock},
	{"a ticker without an end", inprocess.OutOfSteps, inprocess.Idle, ticker},
	{"an early timer", inprocess.Finished, inprocess.Adversarial, early},
	{"a timer that is a nanosecond late", inprocess.Finished, inprocess.Boundary, late},
}

func lostUpdate() bool {
	var n atomic.Int32
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { n.Store(n.Load() + 1) })
	}
	both.Wait()
	return n.Load() != 2
}

func lostWakeUp(repaired bool) {
	var asleep, work atomic.Bool
	wake, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(done)
		if repaired {
			asleep.Store(true)
			if !work.Load() {
				<-wake
			}
		} else if !work.Load() {
			asleep.Store(true)
			<-wake
		}
	}()
	work.Store(true)
	if asleep.Load() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	<-done
}

func leak() bool {
	c := make(chan int)
	var mu sync.Mutex
	gone := false
	go func() {
		mu.Lock()
		left := gone
		mu.Unlock()
		if !left {
			c <- 1
		}
	}()
	mu.Lock()
	defer mu.Unlock()
	gone = true
	return false
}

func panics() bool {
	c := make(chan int)
	var both sync.WaitGroup
	var closed atomic.Bool
	for range 2 {
		both.Go(func() {
			if !closed.Load() {
				closed.Store(true)
				close(c)
			}
		})
	}
	both.Wait()
	return false
}

// livelock has one goroutine that takes step after step, and one that waits for it.
func livelock() bool {
	var n atomic.Int32
	done := make(chan struct{})
	go func() {
		for n.Load() == 0 || n.Load() == 1 {
			n.Store(1 - n.Load())
		}
		close(done)
	}()
	<-done
	return false
}

func ticker() bool {
	t := time.NewTicker(time.Millisecond)
	for range t.C {
	}
	return false
}

// early has a timer that expires before the work beside it is done.
func early() bool {
	var work atomic.Int32
	expired := make(chan int32, 1)
	time.AfterFunc(time.Second, func() { expired <- work.Load() })
	for range 3 {
		work.Add(1)
	}
	return <-expired < 3
}

func late() bool {
	start, expired := time.Now(), make(chan time.Duration, 1)
	time.AfterFunc(time.Second, func() { expired <- time.Since(start) })
	return <-expired == time.Second+1
}

// hunt looks for the bug, and replays what it finds.
func (p program) hunt(name string) string {
	const most = 3000
	s, err := inprocess.New(name, 7)
	if name == inprocess.Exhaustive {
		s, err = inprocess.NewExhaustive(2), nil
	}
	if err != nil {
		return err.Error()
	}
	for n := 1; n <= most && s.Begin(); n++ {
		shown, r := p.once(s)
		s.End(r, true)
		if !shown {
			if r.Verdict != inprocess.Finished && r.Verdict != inprocess.Pruned {
				return fmt.Sprintf("schedule %d: %v, %v", n, r.Verdict, r.Blocked)
			}
			continue
		}
		return p.again(r)
	}
	return "not found"
}

func (p program) once(s *inprocess.Strategy) (shown bool, r *inprocess.Result) {
	r = inprocess.Run(s, inprocess.Options{Time: p.time, MaxSteps: 2000}, func() { shown = p.run() })
	return r.Verdict == p.want && (shown || p.want != inprocess.Finished), r
}

// again replays a schedule several times.
func (p program) again(first *inprocess.Result) string {
	s := inprocess.NewReplay(first.Switches)
	for range 5 {
		s.Begin()
		shown, r := p.once(s)
		if !shown || r.Class != first.Class || r.Steps != first.Steps || s.Unused() != 0 {
			return fmt.Sprintf("the replay of %v: shown %v, %d steps, class %x, %v, %d switches unused; the schedule: %d steps, class %x, %v",
				first.Switches, shown, r.Steps, r.Class, r.Verdict, s.Unused(), first.Steps, first.Class, first.Verdict)
		}
	}
	return ""
}

// clock checks that only timers move the clock, to the nanosecond, and that each schedule
// begins at the same time.
func clock() string {
	s, _ := inprocess.New("walk", 1)
	var begins [2]time.Time
	for i := range begins {
		s.Begin()
		var slept, worked time.Duration
		real := time.Now()
		r := inprocess.Run(s, inprocess.Options{}, func() {
			start := time.Now()
			begins[i] = start
			time.AfterFunc(time.Hour, func() {}).Stop()
			var n atomic.Int32
			for range 100 {
				n.Add(1)
			}
			worked = time.Since(start)
			time.Sleep(12345 * time.Nanosecond)
			slept = time.Since(start)
		})
		switch {
		case r.Verdict != inprocess.Finished:
			return fmt.Sprint(r.Verdict, r.Blocked)
		case worked != 0 || slept != 12345:
			return fmt.Sprintf("a hundred operations took %v, and with a sleep of 12345ns %v", worked, slept)
		case time.Since(real) > time.Hour || time.Now().Before(real):
			return "the clock of the process does not show real time after a schedule"
		}
	}
	if begins[0] != begins[1] {
		return fmt.Sprintf("one schedule began at %v, the next at %v", begins[0], begins[1])
	}
	return ""
}

// waits checks that no timer expires while a goroutine can run, unless it is asked for.
func waits() string {
	s, err := inprocess.NewMix(3, inprocess.Names()...)
	if err != nil {
		return err.Error()
	}
	for range 500 {
		s.Begin()
		expired := false
		r := inprocess.Run(s, inprocess.Options{}, func() { expired = early() })
		if expired {
			return fmt.Sprintf("%s moved the clock beside a goroutine", s.Name())
		}
		s.End(r, true)
	}
	return ""
}

// abandonedTimers checks that a ticker which a schedule has left behind is no timer of the
// next schedule.
func abandonedTimers() string {
	s := inprocess.NewReplay(nil)
	s.Begin()
	inprocess.Run(s, inprocess.Options{MaxSteps: 500}, func() { ticker() })
	s.Begin()
	r := inprocess.Run(s, inprocess.Options{}, func() { time.Sleep(time.Second) })
	if r.Verdict != inprocess.Finished || r.Steps > 10 {
		return fmt.Sprintf("%v after %d steps", r.Verdict, r.Steps)
	}
	return ""
}

// yields checks that a goroutine which yields lets another one go on at once.
func yields() string {
	s := inprocess.NewReplay(nil)
	s.Begin()
	r := inprocess.Run(s, inprocess.Options{}, func() {
		var ready atomic.Bool
		go ready.Store(true)
		for !ready.Load() {
			runtime.Gosched()
		}
	})
	if r.Steps > 20 {
		return fmt.Sprintf("%d steps", r.Steps)
	}
	return ""
}

// unfair checks that a schedule says where a goroutine went on and on.
func unfair() string {
	s := inprocess.NewReplay(nil)
	s.Begin()
	r := inprocess.Run(s, inprocess.Options{}, func() {
		var ready atomic.Bool
		go ready.Store(true)
		for !ready.Load() {
		}
	})
	if len(r.Unfair) != 1 || !strings.HasPrefix(r.Unfair[0], "programs/main.go:") {
		return fmt.Sprintf("got %v, want one line", r.Unfair)
	}
	return ""
}

// chance checks that pct promises nothing of a schedule that was longer than expected, and
// expects no less of the next ones because a short one came between.
func chance() string {
	s, err := inprocess.New("pct3", 1)
	if err != nil {
		return err.Error()
	}
	many := func(n int) func() {
		return func() {
			var mu sync.Mutex
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					for range n {
						mu.Lock()
						mu.Unlock() //nolint:staticcheck // operations are all that is wanted
					}
				})
			}
			both.Wait()
		}
	}
	var chances []float64
	for _, n := range []int{50, 50, 1, 1} {
		s.Begin()
		r := inprocess.Run(s, inprocess.Options{}, many(n))
		_, c := s.Chance(r.Goroutines)
		chances = append(chances, c)
		s.End(r, true)
	}
	if chances[0] != 0 || chances[2] == 0 || chances[3] != chances[2] || chances[3] > 1e-3 {
		return fmt.Sprint(chances)
	}
	return ""
}

// exhaustive checks that a program with two goroutines of one operation each, and the
// driver, has all its orders.
func exhaustive() string {
	s := inprocess.NewExhaustive(12)
	seen := map[string]bool{}
	for s.Begin() {
		var order []string
		r := inprocess.Run(s, inprocess.Options{}, func() {
			var mu sync.Mutex
			var all sync.WaitGroup
			for _, name := range []string{"a", "b", "c"} {
				all.Go(func() {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, name)
				})
			}
			all.Wait()
		})
		s.End(r, true)
		if r.Verdict != inprocess.Pruned {
			seen[strings.Join(order, "")] = true
		}
	}
	if len(seen) != 6 || !s.Complete() || !s.All() {
		return fmt.Sprintf("%d orders, complete %v, all %v, bound %d", len(seen), s.Complete(), s.All(), s.Bound())
	}
	return ""
}

// repaired explores a program without a bug, for ever the same in each replay.
func repaired() string {
	s, err := inprocess.NewMix(1, inprocess.Names()...)
	if err != nil {
		return err.Error()
	}
	classes := map[uint64]bool{}
	for range 2000 {
		s.Begin()
		r := inprocess.Run(s, inprocess.Options{}, func() { lostWakeUp(true) })
		if r.Verdict != inprocess.Finished {
			return fmt.Sprint(r.Verdict, r.Blocked)
		}
		s.End(r, !classes[r.Class])
		classes[r.Class] = true
		first := *r
		replay := inprocess.NewReplay(r.Switches)
		replay.Begin()
		r = inprocess.Run(replay, inprocess.Options{}, func() { lostWakeUp(true) })
		if r.Class != first.Class || r.Steps != first.Steps {
			return "a replay differs"
		}
	}
	if len(classes) < 5 {
		return fmt.Sprintf("%d classes", len(classes))
	}
	return ""
}

// trace checks the lines of a trace, and that tracing changes nothing.
func trace() string {
	s := inprocess.NewReplay(nil)
	var traces [2][]inprocess.Event
	for i := range traces {
		s.Begin()
		r := inprocess.Run(s, inprocess.Options{Trace: true}, func() {
			lostWakeUp(true)
			time.AfterFunc(time.Second, func() {})
			time.Sleep(2 * time.Second)
		})
		traces[i] = r.Trace
		if len(r.Callbacks) != 1 {
			return fmt.Sprintf("callbacks %v, want one", r.Callbacks)
		}
	}
	if !reflect.DeepEqual(traces[0], traces[1]) {
		return "two traces of one schedule differ"
	}
	for _, op := range []string{"store", "load", "close", "receive", "go", "clock"} {
		if !slices.ContainsFunc(traces[0], func(e inprocess.Event) bool {
			return e.Op == op && (strings.HasPrefix(e.Site, "programs/main.go:") || op == "clock")
		}) {
			return fmt.Sprintf("there is no %s in %v", op, traces[0])
		}
	}
	return ""
}

// races checks that the detector sees a race which no operation orders, and none where
// all is ordered. The judge reads what the schedule wrote.
func races() string {
	if !inprocess.RaceBuild {
		return ""
	}
	s, _ := inprocess.New("walk", 1)
	n, found, clean := 0, 0, 0
	for range 50 {
		s.Begin()
		r := inprocess.Run(s, inprocess.Options{}, func() {
			var both sync.WaitGroup
			var mu sync.Mutex
			for i := range 2 {
				both.Go(func() {
					mu.Lock()
					defer mu.Unlock()
					n += i
				})
			}
			both.Wait()
		})
		clean += r.Races
		if n < 0 {
			return "impossible"
		}
		s.Begin()
		r = inprocess.Run(s, inprocess.Options{}, func() {
			for i := range 2 {
				go func() { n = i }()
			}
		})
		found += r.Races
		n = 0
	}
	if found == 0 || clean != 0 {
		return fmt.Sprintf("%d races in the program that has one, %d in the one that has none", found, clean)
	}
	return ""
}
