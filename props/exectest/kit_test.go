package exectest_test

import (
	"slices"
	"strings"
	"testing"

	"eventide/internal/contract"
	"eventide/props/exectest"
	"eventide/props/exectest/subjects"
	"eventide/props/history"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// policy is what the executors of these tests do with timers.
var policy = exectest.Timers(history.CancelTimers)

// bare makes simple executors, and whole executors with everything that the kit can ask for.
func bare(f subjects.Flaw) func() exectest.Subject  { return subjects.Bare(f) }
func whole(f subjects.Flaw) func() exectest.Subject { return subjects.Whole(f) }

// TestRun puts the correct executor under the kit as a user would.
func TestRun(t *testing.T) {
	r := exectest.Run(t, whole(subjects.None), policy)
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
	r := exectest.Check(bare(subjects.None))
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

// TestEveryGuaranteeCanFail wants a broken subject for each row of the kit.
func TestEveryGuaranteeCanFail(t *testing.T) {
	var guilty []string
	for _, m := range subjects.Mistakes() {
		guilty = append(guilty, m.Guarantee)
	}
	for _, row := range exectest.Check(bare(subjects.None), exectest.Rounds(1)).Rows {
		if !slices.Contains(guilty, row.Guarantee) {
			t.Errorf("%s: nothing breaks it", row.Guarantee)
		}
	}
}
