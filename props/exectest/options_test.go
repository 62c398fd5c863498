package exectest_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"eventide/props/exectest"
	"eventide/props/exectest/subjects"
	"eventide/props/history"
)

// TestOptions wants each option to have its effect.
func TestOptions(t *testing.T) {
	t.Run("Only", func(t *testing.T) {
		r := exectest.Check(bare(subjects.None), exectest.Only("G4", "G2"))
		if len(r.Rows) != 2 || r.Rows[0].Guarantee != "G2" || r.Rows[1].Guarantee != "G4" {
			t.Errorf("got %+v, want G2 and G4", r.Rows)
		}
	})
	t.Run("Rounds", func(t *testing.T) {
		row := exectest.Check(bare(subjects.None), exectest.Only("G4"), exectest.Rounds(7)).Rows[0]
		if row.Programs != 7 {
			t.Errorf("got %d programs, want 7", row.Programs)
		}
	})
	t.Run("Seed", func(t *testing.T) {
		text := func(seed uint64) string {
			return exectest.Check(bare(subjects.Reorders), exectest.Only("G4"), exectest.Seed(seed)).Rows[0].Text
		}
		if !strings.Contains(text(7), "G4") {
			t.Errorf("seed 7 finds nothing: %s", text(7))
		}
	})
	t.Run("Without", func(t *testing.T) {
		row := exectest.Check(bare(subjects.QuietShort), exectest.Only("G10"), exectest.Without("G10", "it has no quiet period")).Rows[0]
		if row.Status != exectest.NotSupported || row.Text != "it has no quiet period" {
			t.Errorf("got %+v, want not supported, with the reason", row)
		}
	})
	t.Run("PanicsEscape", func(t *testing.T) {
		row := exectest.Check(bare(subjects.None), exectest.Only("G14"), exectest.PanicsEscape()).Rows[0]
		if row.Status != exectest.Fail || !strings.Contains(row.Text, "declared, not tried") || row.Programs != 0 {
			t.Errorf("got %+v, want a failure without a try", row)
		}
	})
	t.Run("PlainVariable", func(t *testing.T) {
		if failed := exectest.Check(bare(subjects.None), exectest.Only("G2"), exectest.PlainVariable()).Failed(); len(failed) > 0 {
			t.Errorf("%v failed", failed)
		}
	})
	t.Run("Classify", func(t *testing.T) {
		badArgument := exectest.Classify(func(error) history.Outcome { return history.RefusedBadArgument })
		row := exectest.Check(bare(subjects.None), exectest.Only("G16"), badArgument).Rows[0]
		if row.Status != exectest.Pass {
			t.Errorf("got %+v, want pass", row)
		}
		full := exectest.Classify(func(error) history.Outcome { return history.RefusedQueueFull })
		row = exectest.Check(bare(subjects.None), exectest.Only("G5"), full).Rows[0]
		if row.Status != exectest.Fail || !strings.Contains(row.Text, "for a full queue") {
			t.Errorf("got %+v, want a failure: nothing bounds the queue", row)
		}
	})
	t.Run("QueueBound", func(t *testing.T) {
		full := exectest.Classify(func(error) history.Outcome { return history.RefusedQueueFull })
		row := exectest.Check(bare(subjects.None), exectest.Only("G5"), full, exectest.QueueBound(1)).Rows[0]
		if row.Status != exectest.Fail {
			t.Errorf("got %+v, want a failure: there was room for 16", row)
		}
	})
}

// TestBadInput wants what does not exist to be named, with what was expected.
func TestBadInput(t *testing.T) {
	var none *subjects.Simple
	for _, c := range []struct {
		name    string
		factory func() exectest.Subject
		opt     exectest.Option
		want    string
	}{
		{"Only, lower case", bare(0), exectest.Only("G2", "g3"), `Only("g3"): the kit has no such guarantee, want one of G1 G2 G3 `},
		{"Only, without a check", bare(0), exectest.Only("G19"), `Only("G19"): the kit has no programs for it, as no method of Subject bounds a queue`},
		{"Without", bare(0), exectest.Without("G99", "why"), `Without("G99", ...): no such guarantee, want one of G1 to G24`},
		{"Without, spelt otherwise", bare(0), exectest.Without("G03", "why"), `Without("G03", ...): no such guarantee`},
		{"Without a reason", bare(0), exectest.Without("G3", ""), "want the reason"},
		{"Rounds", bare(0), exectest.Rounds(0), "Rounds(0): want at least 1"},
		{"Patience", bare(0), exectest.Patience(-1), "Patience(-1ns): want more than 0"},
		{"QueueBound", bare(0), exectest.QueueBound(-1), "QueueBound(-1): want at least 1"},
		{"Classify", bare(0), exectest.Classify(nil), "Classify(nil): want a function"},
		{"nil", func() exectest.Subject { return nil }, exectest.Seed(1), "the factory returned nil, want a fresh Subject"},
		{"nil factory", nil, exectest.Seed(1), "the factory is nil, want a function that returns a fresh Subject"},
		{"refused shutdown", func() exectest.Subject { return unstoppable{bare(0)()} }, exectest.Without("G16", "why"),
			`the first call Shutdown(0, 10ms) of a fresh Subject returned "never", want nil`},
		{"nil pointer", func() exectest.Subject { return none }, exectest.Seed(1), "the factory returned nil, want a fresh Subject"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "exectest: ") || !strings.Contains(got, c.want) {
					t.Errorf("got the panic %q, want %q", got, c.want)
				}
			}()
			exectest.Check(c.factory, c.opt)
			t.Error("it did not panic")
		})
	}
}

// TestRealTime runs the correct and a few broken executors on the wall clock.
func TestRealTime(t *testing.T) {
	only := exectest.Only("G3", "G4", "G6", "G10", "G12", "G24")
	r := exectest.Check(whole(subjects.None), policy, exectest.RealTime(), exectest.Rounds(1), only)
	for _, row := range r.Rows {
		want := exectest.Pass
		if row.Guarantee == "G12" {
			want = exectest.NotSupported
		}
		if row.Status != want {
			t.Errorf("%s is %v (%s), want %v", row.Guarantee, row.Status, row.Text, want)
		}
	}
	for _, b := range []struct {
		flaw  subjects.Flaw
		guilt string
	}{{subjects.QuietShort, "G10"}, {subjects.Reorders, "G4"}, {subjects.StartsEagerly, "G17"}} {
		r := exectest.Check(bare(b.flaw), exectest.RealTime(), exectest.Rounds(1), exectest.Only(b.guilt))
		if r.Rows[0].Status != exectest.Fail {
			t.Errorf("%s is %v, want a failure", b.guilt, r.Rows[0].Status)
		}
	}
}

// spinner waits for a lock that is never released, which freezes virtual time.
type spinner struct {
	*subjects.Simple
	lock *sync.Mutex
}

func (s spinner) Execute(task func()) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.Simple.Execute(task)
}

// TestPatience wants a run that never comes to rest to be given up.
func TestPatience(t *testing.T) {
	var lock sync.Mutex
	lock.Lock()
	t.Cleanup(lock.Unlock) // what was given up can end then
	r := exectest.Check(func() exectest.Subject { return spinner{subjects.NewSimple(subjects.None), &lock} },
		exectest.Only("G18"), exectest.Rounds(1), exectest.Patience(50*time.Millisecond))
	if row := r.Rows[0]; row.Status != exectest.Fail || !strings.Contains(row.Text, "did not come to rest") {
		t.Errorf("got %+v, want a failure for a run that never rests", row)
	}
}

// grave takes nothing and never ends.
type grave struct{ done chan struct{} }

func (g grave) Execute(func()) error                        { return errors.New("grave: closed") }
func (g grave) Shutdown(time.Duration, time.Duration) error { return nil }
func (g grave) Done() <-chan struct{}                       { return g.done }

// unstoppable refuses every shutdown, and goes on.
type unstoppable struct{ exectest.Subject }

func (unstoppable) Shutdown(time.Duration, time.Duration) error { return errors.New("never") }

// TestSameSubjectTwice wants a factory that makes no new subject to be named, also one that returns the
// subject inside a value. Subjects without fields are all equal, and need not be one.
func TestSameSubjectTwice(t *testing.T) {
	type wrapped struct{ exectest.Subject }
	for _, s := range []exectest.Subject{bare(subjects.None)(), wrapped{bare(subjects.None)()}} {
		row := exectest.Check(func() exectest.Subject { return s }, exectest.Only("G4")).Rows[0]
		if row.Status != exectest.Fail || !strings.Contains(row.Text, "the same Subject twice") {
			t.Errorf("got %+v, want a failure that names the factory", row)
		}
	}
	row := exectest.Check(func() exectest.Subject { current = bare(subjects.None)(); return global{} }, exectest.Only("G4")).Rows[0]
	if row.Status != exectest.Pass {
		t.Errorf("got %+v, want a pass: each program has a subject of its own", row)
	}
}

// global passes on the calls to current.
type global struct{}

var current exectest.Subject

func (global) Execute(task func()) error                   { return current.Execute(task) }
func (global) Shutdown(quiet, timeout time.Duration) error { return current.Shutdown(quiet, timeout) }
func (global) Done() <-chan struct{}                       { return current.Done() }

// TestInconclusiveIsNoPass wants a guarantee whose premise never occurs, here
// because everything is refused, to be neither passed nor failed.
func TestInconclusiveIsNoPass(t *testing.T) {
	g := func() exectest.Subject { return grave{make(chan struct{})} }
	row := exectest.Check(g, exectest.Only("G4")).Rows[0]
	if row.Status != exectest.Inconclusive || row.Text == "" {
		t.Errorf("got %+v, want inconclusive, with a reason", row)
	}
	for _, afterDone := range []string{"G20", "G24"} {
		if row := exectest.Check(g, exectest.Only(afterDone)).Row(afterDone); row.Status == exectest.Pass {
			t.Errorf("got %+v of a subject that never ends, want no pass", row)
		}
	}
	row = exectest.Check(g, exectest.Only("G17")).Rows[0]
	if row.Status != exectest.Inconclusive || !strings.Contains(row.Text, "does not terminate even") {
		t.Errorf("got %+v, want inconclusive: it never ends", row)
	}
}
