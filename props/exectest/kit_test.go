package exectest_test

import (
	"slices"
	"strings"
	"testing"

	"eventide/internal/contract"
	"eventide/props/exectest"
	"eventide/props/history"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// policy is what the executors of these tests do with timers.
var policy = exectest.Timers(history.CancelTimers)

// bare is the simple executor without what full adds.
func bare(f flaw) func() exectest.Subject {
	return func() exectest.Subject { return newSimple(f) }
}

func whole(f flaw) func() exectest.Subject {
	return func() exectest.Subject { return newFull(f) }
}

// TestRun puts the correct executor under the kit as a user would.
func TestRun(t *testing.T) {
	r := exectest.Run(t, whole(none), policy)
	for _, row := range r.Rows {
		if row.Status != exectest.Pass {
			t.Errorf("%s is %v, want pass", row.Guarantee, row.Status)
		}
		if row.Exercised == 0 || row.Programs == 0 {
			t.Errorf("%s passed without having been exercised: %+v", row.Guarantee, row)
		}
	}
}

// TestWhatIsMissingIsNotSupported wants the bare executor to pass what it has,
// and the rest to be named with what is missing.
func TestWhatIsMissingIsNotSupported(t *testing.T) {
	missing := map[string]string{
		"G1": "Stater", "G6": "Hooker", "G7": "Scheduler", "G8": "Scheduler", "G9": "Submitter", "G13": "Scheduler",
	}
	r := exectest.Check(bare(none))
	for _, row := range r.Rows {
		want, text := exectest.Pass, ""
		if lacks, ok := missing[row.Guarantee]; ok {
			want, text = exectest.NotSupported, lacks
		}
		if row.Status != want || row.Text != text {
			t.Errorf("%s is %v (%s), want %v (%s)", row.Guarantee, row.Status, row.Text, want, text)
		}
	}
	if row := r.Row("G6"); !strings.Contains(r.String(), "G6   not supported         0  "+contract.Sentence("G6")+": Hooker") {
		t.Errorf("the table does not say so of %+v:\n%s", row, r)
	}
}

// broken names each flaw, the one guarantee that it breaks, and what the
// failure says.
var broken = []struct {
	name  string
	make  func() exectest.Subject
	guilt string
	text  string
	also  []string // what it may break too, as it is about the same
}{
	{"loses tasks at stop", bare(losesAtStop), "G3", "accepted tasks run before done: task", nil},
	{"runs a refused task", bare(runsRefused), "G3", "refused work never runs: task", nil},
	{"runs a task twice", bare(runsTwice), "G3", "accepted work runs at most once: task", nil},
	{"reorders", bare(reorders), "G4", "tasks begin in the order submitted: task", nil},
	{"overlaps bodies", bare(overlaps), "G2", "bodies run one at a time, on the loop: task", nil},
	{"done early", bare(doneEarly), "G15", "nothing runs after done: task", []string{"G3"}},
	{"done never", bare(doneNever), "G15", "never ended, though all accepted work has run", nil},
	{"accepts after done", bare(acceptsAfterDone), "G5", "though the executor was done at #", nil},
	{"dies of a panic", bare(diesOfPanic), "G14", "a panic or Goexit stays inside its body: task", nil},
	{"ends at a Goexit", bare(endsAtGoexit), "G14", "without a shutdown call", nil},
	{"polls", bare(polls), "G12", "with the loop free for 3ms in between", []string{"G16"}},
	{"quiet period too short", bare(quietShort), "G10", "admission ended already at ", nil},
	{"quiet period rounded up", bare(quietPolled), "G10", "admission ended only at 100ms, and 50ms was due", []string{"G16"}},
	{"ignores the deadline", bare(ignoresDeadline), "G11", "was accepted at 80ms, after the deadline at ", nil},
	{"refuses in the quiet period", bare(refusesInQuiet), "G10", "and admission was open until ", nil},
	{"later call wins", bare(laterWins), "G16", "admission ended where the later call at #", nil},
	{"starts eagerly", bare(startsEagerly), "G17", "no goroutine before first use: 1 ran before the first call", nil},
	{"cannot stop unstarted", bare(neverStarted), "G17", "Done was not closed, though it is in a program that begins with a task", []string{"G11"}},
	{"blocks in the loop", bare(blocksOnFull), "G18", "never returned", []string{"G3"}},
	{"leaves a goroutine", bare(leavesGoroutine), "G24", "no goroutine is left after done: 1 goroutines were left", nil},
	{"skips a hook", whole(hookSkipped), "G6", "never ran and was not removed", nil},
	{"hook before the shutdown", whole(hookEarly), "G6", "before any shutdown", nil},
	{"timers early", whole(timerEarly), "G7", "1ms before its deadline", nil},
	{"equal deadlines in disorder", whole(timersUnordered), "G7", "scheduled first, began second", nil},
	{"cancel lies", whole(cancelLies), "G8", "and its cancel at #", nil},
	{"forgets a future", whole(futureForgotten), "G9", ": the future of task", nil},
	{"state goes back", whole(stateGoesBack), "G1", "ShuttingDown was seen at #", nil},
	{"starves timers", whole(starvesTimers), "G13", "and a batch is 64", nil},
	{"counts a refused task", whole(countsRefused), "G20", "accepted = ran + cancelled + pending", nil},
	{"closes late", whole(closesLate), "G5", "though Shutdown had returned at #", nil},
	{"not in loop in the first body", whole(insideDenied), "G2", "InEventLoop was false inside task", nil},
	{"terminated before done", whole(terminatedBefore), "G15", "and Done was open afterwards", nil},
}

// TestBrokenSubjects wants each flaw to break its own guarantee and no other that
// is not about the same, for the right reason, and with a program and a story to
// read.
func TestBrokenSubjects(t *testing.T) {
	for _, b := range broken {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			r := exectest.Check(b.make, policy)
			failed := slices.DeleteFunc(r.Failed(), func(g string) bool { return slices.Contains(b.also, g) })
			if !slices.Equal(failed, []string{b.guilt}) {
				t.Fatalf("%v failed, want %s alone, but for %v:\n%s", r.Failed(), b.guilt, b.also, r)
			}
			row := r.Row(b.guilt)
			for _, part := range []string{b.guilt + " ", b.text, " [program g"} {
				if !strings.Contains(row.Text, part) {
					t.Errorf("got %q, want it to contain %q", row.Text, part)
				}
			}
			for _, part := range []string{row.Guarantee, "\n" + b.guilt + ": " + contract.Sentence(b.guilt) + ".\n", "\nprogram\n", "\ntrace\n", "\nreplay  exectest.Check(factory, exectest.Only(\"" + b.guilt + "\"), exectest.Seed(1), exectest.Timers(history.CancelTimers))"} {
				if !strings.Contains(row.Report, part) {
					t.Errorf("got the report\n%s\nwant it to contain %q", row.Report, part)
				}
			}
		})
	}
}

// TestMisplacedMistakes wants mistakes to be found by whichever program shows them, and
// to be told under the name of the guarantee that they break.
func TestMisplacedMistakes(t *testing.T) {
	for _, b := range misplaced {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			r := exectest.Check(b.make, policy)
			if !slices.Equal(r.Failed(), []string{b.guilt}) {
				t.Fatalf("%v failed, want %s alone:\n%s", r.Failed(), b.guilt, r)
			}
			row := r.Row(b.guilt)
			if !strings.Contains(row.Text, b.text) {
				t.Errorf("got %q, want it to contain %q", row.Text, b.text)
			}
			for _, part := range []string{b.guilt + " ", "\nreplay  exectest.Check(factory, exectest.Only("} {
				if !strings.Contains(row.Report, part) {
					t.Errorf("got the report\n%s\nwant it to contain %q", row.Report, part)
				}
			}
		})
	}
}

// TestEveryGuaranteeCanFail wants a broken subject for each row of the kit.
func TestEveryGuaranteeCanFail(t *testing.T) {
	var guilty []string
	for _, b := range broken {
		guilty = append(guilty, b.guilt)
	}
	for _, row := range exectest.Check(bare(none), exectest.Rounds(1)).Rows {
		if !slices.Contains(guilty, row.Guarantee) {
			t.Errorf("%s: nothing breaks it", row.Guarantee)
		}
	}
}
