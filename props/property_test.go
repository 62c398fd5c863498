package props

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"eventide/internal/timeline"
	"eventide/props/history"

	"pgregory.net/rapid"
)

// caseDir returns the directory for failing programs, which outlives the test: out/cases of
// the module, or the user's cache if the tests of this package run outside the module.
func caseDir() string {
	if dir := os.Getenv("EVENTIDE_CASES"); dir != "" {
		return dir
	}
	if _, err := os.Stat(filepath.Join("..", "props", "program.go")); err == nil {
		return filepath.Join("..", "out", "cases")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "eventide", "cases")
}

// replayLine returns the command that runs a case again. It works anywhere in the module.
// -v prints a line if the case does not fail, and -count=1 bypasses the cache of go test.
func replayLine(path string, flags ...string) string {
	return strings.Join(append([]string{"go test -count=1 -v -run '^TestReplay$' eventide/props -case " + ShellWord(path)}, flags...), " ")
}

// Property returns the property of one guarantee, for rapid.Check: no run of a generated
// program on core violates the guarantee. The id "" means all guarantees. observe, if not
// nil, is called with each verdict.
//
// Minimise makes a failing program smaller. From then on the property fails at once with
// that failure, so that rapid has nothing left to shrink; see Minimise for the reason.
func Property(id string, observe func(Verdict)) func(*rapid.T) {
	g, _ := Lookup(id)
	return propertyWith(g.Profile, id, observe)
}

// propertyWith is Property on programs of a profile.
func propertyWith(profile Profile, id string, observe func(Verdict)) func(*rapid.T) {
	profile.Wide = true
	programs := Programs(profile)
	var found *told
	return func(t *rapid.T) {
		p := programs.Draw(t, "program")
		judge := func(p Program) Verdict {
			var buf []history.Event
			if spare := spareEvents.Swap(nil); spare != nil {
				buf = *spare
			}
			v, events, err := runInBubble(t, buf, p)
			if err != nil {
				t.Fatalf("props: the harness wrote a history that makes no sense: %v\n%v", err, p)
			}
			if observe != nil {
				observe(v)
			}
			if v.Recycle() {
				spareEvents.Store(&events)
			}
			return v
		}
		if found == nil {
			if v := judge(p); len(v.Against(id)) > 0 {
				found = failure(t, id, p, v, judge)
			}
		}
		found.fail(t)
	}
}

// spareEvents is the log of a run without a violation: memory for the next run.
var spareEvents atomic.Pointer[[]history.Event]

// told is a reported failure: one line, and the full report unless its cause was reported before.
type told struct{ line, all string }

// fail fails the run if f is not nil. Rapid repeats the reason of a failure and prints the
// log once, so the reason is the short line.
func (f *told) fail(t *rapid.T) {
	if f == nil {
		return
	}
	if f.all != "" {
		t.Log("\n" + f.all)
	}
	t.Fatal(f.line)
}

// minimiseTries is how often a smaller program must pass before it counts as correct.
// Goroutines are real, so one run shows one interleaving.
const minimiseTries = 10

// failure minimises the program, saves it as a case, and returns its text with the command
// that runs it again. If the cause failed before, it returns a line that names the case.
func failure(t *rapid.T, id string, p Program, v Verdict, judge func(Program) Verdict) *told {
	first := v.Against(id)[0]
	if path, known := failedBefore.known(first); known {
		return &told{line: again(first, path)}
	}
	least := Minimise(p, func(q Program) bool {
		for range minimiseTries {
			if w := judge(q); len(w.Against(id)) > 0 {
				v = w
				return true
			}
		}
		return false
	})
	small := v.Against(id)[0]
	path, err := Case{Guarantee: small.Guarantee, Text: small.Text, Program: least}.Save(caseDir())
	if err != nil {
		t.Logf("props: the case could not be saved: %v", err)
	}
	if err := v.saveTimeline(path, least, small); err != nil {
		t.Logf("props: the timeline could not be saved: %v", err)
	}
	failedBefore.add(path, first, small)
	all := fmt.Sprintf("%s\nmade smaller from\n%v", v.Failure(least, small, replayLine(path)), p)
	return &told{history.Clip(small.String()), bounded(all, path)}
}

// saveTimeline saves the timeline of a failure beside its case, for the page of make verify.
func (v Verdict) saveTimeline(path string, p Program, first history.Violation, flags ...string) error {
	t := v.Timeline(p, first, replayLine(path, flags...))
	if t == nil {
		return nil
	}
	return t.Save(strings.TrimSuffix(path, filepath.Ext(path)) + timeline.Extension)
}

// runInBubble judges one run, with a buffer for its events, which it returns. A bubble that cannot
// end, because a goroutine is left in it after the program, is a violation too.
func runInBubble(t *rapid.T, buf []history.Event, p Program) (Verdict, []history.Event, error) {
	out, stuck := inBubble(t, buf, p)
	v, err := Judge(p, out)
	if stuck != "" {
		v.add(history.Violation{
			Guarantee: "G24", Predicate: "S16", Sentence: "nothing is left behind",
			Text: "goroutines are blocked for ever: " + stuck,
		})
	}
	return v, out.Events, err
}

func inBubble(t *rapid.T, buf []history.Event, p Program) (out Recording, stuck string) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if stuck = fmt.Sprint(r); !strings.Contains(stuck, "deadlock:") {
			panic(r)
		}
	}()
	rapid.SyncTest(t, func(*rapid.T) { out = RunIn(buf, p) })
	return out, ""
}

// CheckAll judges up to runs runs of a program by all guarantees, and returns the first
// verdict with a violation. Goroutines are real, so one run shows one interleaving.
func CheckAll(t *testing.T, p Program, runs int, bubble func(*testing.T, func(*testing.T))) (v Verdict, violated bool) {
	for range runs {
		var out Recording
		bubble(t, func(*testing.T) { out = Run(p) })
		var err error
		if v, err = Judge(p, out); err != nil {
			t.Fatalf("props: %v\n%s", err, strings.TrimSpace(p.String()))
		}
		if len(v.Violations) > 0 {
			return v, true
		}
	}
	return v, false
}
