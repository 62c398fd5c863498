package history_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/props/history"
)

// TestLogStamps lets many goroutines write in virtual time, and wants positions
// without a gap, times that do not decrease, and each writer's goroutine.
func TestLogStamps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writers, each = 8, 20
		log := history.New(nil)
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for range each {
					time.Sleep(time.Duration(w) * time.Millisecond)
					n := log.Add(history.Event{Kind: history.Invoke, Op: history.OpState})
					log.Add(history.Event{Kind: history.Return, Op: history.OpState, Call: n})
				}
			})
		}
		all.Wait()
		events := log.Events()
		if len(events) != 2*writers*each {
			t.Fatalf("got %d events, want %d", len(events), 2*writers*each)
		}
		goroutines := map[int64]int{}
		for i, e := range events {
			if e.N != i+1 {
				t.Fatalf("event %d has position %d", i+1, e.N)
			}
			if i > 0 && e.At < events[i-1].At {
				t.Fatalf("#%d is at %v, after %v", e.N, e.At, events[i-1].At)
			}
			goroutines[e.G]++
		}
		if len(goroutines) != writers {
			t.Errorf("got %d goroutines, want %d", len(goroutines), writers)
		}
		if last := events[len(events)-1].At; last != each*(writers-1)*time.Millisecond {
			t.Errorf("the last event is at %v, want %v", last, each*(writers-1)*time.Millisecond)
		}
		if _, err := history.Of(events, history.Rules{Virtual: true}); err != nil {
			t.Error(err)
		}
	})
}

// TestLogKeepsStamps wants a time and a goroutine that were given to be kept.
func TestLogKeepsStamps(t *testing.T) {
	log := history.New(func() time.Duration { return time.Hour })
	log.Add(history.Event{At: time.Second, G: 7})
	log.Add(history.Event{})
	events := log.Events()
	if e := events[0]; e.At != time.Second || e.G != 7 {
		t.Errorf("got %v and goroutine %d, want 1s and 7", e.At, e.G)
	}
	if e := events[1]; e.At != time.Hour || e.G == 0 {
		t.Errorf("got %v and goroutine %d, want 1h and a goroutine", e.At, e.G)
	}
}

// TestBrokenLogs wants an error for logs that their writer broke.
func TestBrokenLogs(t *testing.T) {
	for _, c := range []struct{ name, lines, want string }{
		{"return of nothing", "g1 return execute 1 accepted", "#1: return of execute without its invoke"},
		{"return of another call", "g1 invoke submit 1\ng1 return execute 1 accepted call=1", "#2: return of execute without its invoke"},
		{"return twice", "g1 invoke execute 1\ng1 return execute 1 accepted\ng1 return execute 1 accepted call=1", "#3: execute returns twice, first at #2"},
		{"label twice", "g1 invoke execute 1\ng2 invoke execute 1", "#2: label 1 submitted twice, first at #1"},
		{"cancel of nothing", "g1 invoke cancel 1", "#1: cancel of 1, which was never submitted"},
		{"begin of nothing", "loop begin task 1", "#1: begin of 1, which was never submitted"},
		{"end of nothing", "g1 invoke execute 1\nloop end task 1", "#2: end of 1, but nothing has begun on this goroutine"},
		{"end of another body", "g1 invoke execute 1\ng1 invoke execute 2\nloop begin task 1\nloop end task 2", "#4: end of task 2, but task 1 runs on this goroutine"},
		{"complete of nothing", "loop complete 1 normal", "#1: complete of 1, which was never submitted"},
		{"time runs back", "@5ms g1 invoke state\n@4ms g1 return state Started", "#2 is at 4ms, before its predecessor at 5ms, in virtual time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, err := history.Parse(strings.NewReader("verdict: good\nrules: virtual\n" + c.lines))
			if err != nil {
				t.Fatal(err)
			}
			_, err = history.Of(tr.Events, tr.Rules)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to contain %q", err, c.want)
			}
		})
	}
	if _, err := history.Of([]history.Event{{N: 2}}, history.Rules{}); err == nil {
		t.Error("a log that begins with position 2 was taken")
	}
}

// TestStatus wants a predicate whose events are missing to be not applicable,
// and one whose premise did not occur to be not exercised: never passed.
func TestStatus(t *testing.T) {
	const task = "g1 invoke execute 1\ng1 return execute 1 accepted\nloop begin task 1\nloop end task 1\n"
	for _, c := range []struct {
		name, rules, lines, predicate string
		want                          history.Status
		premise                       int
	}{
		{"no parks to judge", "", task, "V1", history.NotApplicable, 0},
		{"no samples to judge", "", task, "S15", history.NotApplicable, 0},
		{"no deadline promised", "", task, "V3", history.NotApplicable, 0},
		{"no quiet period promised", "", task, "V4", history.NotApplicable, 0},
		{"no refusal", "", task, "S3", history.NotExercised, 0},
		{"not done", "", task, "S2", history.NotExercised, 0},
		{"one body is no overlap", "", task, "S6", history.NotExercised, 0},
		{"done", "", task + "loop done", "S2", history.Passed, 1},
		{"refused twice", "spawner", "g1 invoke execute 1\ng1 return execute 1 refused:startfailed\n" +
			"g1 invoke execute 2\ng1 return execute 2 refused:startfailed", "S3", history.Passed, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := parse(t, c.rules, c.lines).Check(c.predicate)[0]
			if v.Status != c.want || v.Premise != c.premise {
				t.Errorf("got %v with premise %d, want %v with %d", v.Status, v.Premise, c.want, c.premise)
			}
		})
	}
}

// TestCheckWantsKnownNames wants a panic for a predicate that is not in the table.
func TestCheckWantsKnownNames(t *testing.T) {
	defer func() {
		if got := recover(); got != "history: no predicate S17" {
			t.Errorf("got %v", got)
		}
	}()
	parse(t, "", "loop done").Check("S17")
}

// TestLater has the two laws of deadlines.
func TestLater(t *testing.T) {
	for _, c := range []struct{ at, delay, want time.Duration }{
		{time.Second, time.Minute, time.Minute + time.Second},
		{time.Second, -time.Minute, time.Second},
		{1, history.Never, history.Never},
		{history.Never, 1, history.Never},
		{history.Never, history.Never, history.Never},
		{0, history.Never - 1, history.Never - 1},
	} {
		if got := history.Later(c.at, c.delay); got != c.want {
			t.Errorf("Later(%d, %d) = %d, want %d", c.at, c.delay, got, c.want)
		}
	}
}

// TestPredicateTable wants each row whole and each name once.
func TestPredicateTable(t *testing.T) {
	var names []string
	for _, p := range history.Predicates() {
		if p.Name == "" || p.Guarantee == "" || p.Sentence == "" {
			t.Errorf("a gap in %+v", p)
		}
		names = append(names, p.Name)
	}
	slices.Sort(names)
	if whole := len(names); len(slices.Compact(names)) != whole {
		t.Errorf("a name stands twice in %v", names)
	}
}

// Example judges a log that lost a task.
func Example() {
	log := history.New(func() time.Duration { return 0 })
	call := log.Add(history.Event{G: 1, Kind: history.Invoke, Op: history.OpExecute, ID: 1})
	log.Add(history.Event{G: 1, Kind: history.Return, Op: history.OpExecute, ID: 1, Call: call, Outcome: history.Accepted})
	call = log.Add(history.Event{G: 1, Kind: history.Invoke, Op: history.OpShutdown})
	log.Add(history.Event{G: 1, Kind: history.Return, Op: history.OpShutdown, Call: call, Outcome: history.Returned})
	log.Add(history.Event{G: 2, Kind: history.Done})

	h, err := history.Of(log.Events(), history.Rules{AtRest: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range h.Violations() {
		if err := history.Report(os.Stdout, h, v, "go test ./mine"); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// G3 accepted tasks run before done: task 1, accepted at #2, never ran
	//
	// program
	//   @0s       g1           execute(1) -> accepted
	//   @0s       g1           shutdown() -> returned
	//
	// trace
	//      #          at  g1                        g2
	//      1          0s  execute(1)
	// >    2          0s    execute(1) -> accepted
	//      3          0s  shutdown()
	//      4          0s    shutdown() -> returned
	// >    5          0s                            done
	//
	// replay  go test ./mine
}
