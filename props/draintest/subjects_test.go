package draintest_test

import (
	"slices"
	"strings"
	"testing"

	"eventide/props/draintest"
	"eventide/props/draintest/subjects"
)

// TestRightSubjectsPass: each verdict passes on a server that makes no mistake.
func TestRightSubjectsPass(t *testing.T) {
	for _, s := range subjects.Right() {
		if testing.Short() {
			s.Kit.Rounds = 2 // the least with which NothingLeft is judged
		}
		t.Run(s.Name, func(t *testing.T) {
			r, err := s.Kit.Check(s.Start)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Rows {
				if row.Status != draintest.Pass {
					t.Errorf("%s is %s, want a pass: %s\n%s", row.Verdict, row.Status, row.Text, row.Report)
				}
			}
			t.Log("\n" + r.String())
		})
	}
}

// TestWrongSubjectsFail: each mistake fails the verdict that names it, and the report has the
// timeline of an example.
func TestWrongSubjectsFail(t *testing.T) {
	for _, s := range subjects.Wrong() {
		t.Run(s.Name, func(t *testing.T) {
			r, err := s.Kit.Check(s.Start)
			if err != nil {
				t.Fatal(err)
			}
			failed, row := r.Failed(), r.Row(s.Breaks)
			if !slices.Contains(failed, s.Breaks) || s.Alone && len(failed) > 1 {
				t.Errorf("%v failed, want %s, alone: %v", failed, s.Breaks, s.Alone)
				for _, row := range r.Rows {
					t.Log(row.Report)
				}
			}
			if ofCalls := s.Breaks != draintest.Ended && s.Breaks != draintest.NothingLeft; ofCalls && !strings.Contains(row.Report, "-- Shutdown was called --") {
				t.Errorf("the report has no timeline:\n%s", row.Report)
			}
			t.Log("\n" + r.String())
		})
	}
}
