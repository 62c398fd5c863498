package exectest

import (
	"strings"
	"testing"
	"time"
)

// TestBodiesThatRunAgainAreNamed wants an executor that runs a body twice to fail for that,
// also if the body submits another task.
func TestBodiesThatRunAgainAreNamed(t *testing.T) {
	inner := execute1(2, body{})
	p := program{[][]step{{execute1(1, body{then: []step{inner}}), patient()}}}
	c := defaults()
	found := clauseOf("G3").judge(&c, execute(func() Subject { return &runsTwice{done: make(chan struct{})} }, p, &c, false))
	if !found.breaks("G3") || !strings.Contains(found.violations[0].String(), "at most once: task 1") {
		t.Fatalf("got %v, want a task that ran more than once", found.violations)
	}
}

// runsTwice runs each task twice, on the goroutine of the caller.
type runsTwice struct{ done chan struct{} }

func (s *runsTwice) Execute(task func()) error             { task(); task(); return nil }
func (s *runsTwice) Shutdown(quiet, _ time.Duration) error { close(s.done); return nil }
func (s *runsTwice) Done() <-chan struct{}                 { return s.done }
