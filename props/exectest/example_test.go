package exectest_test

import (
	"fmt"
	"testing"
	"time"

	"eventide/props/exectest"
	"eventide/props/exectest/subjects"
)

// myExecutor wraps an executor of one's own in the three methods of Subject.
type myExecutor struct{ inner *subjects.Simple }

func (m myExecutor) Execute(task func()) error { return m.inner.Execute(task) }
func (m myExecutor) Shutdown(quiet, timeout time.Duration) error {
	return m.inner.Shutdown(quiet, timeout)
}
func (m myExecutor) Done() <-chan struct{} { return m.inner.Done() }

// TestConformance is the test that a project writes for its own executor.
func TestConformance(t *testing.T) {
	exectest.Run(t, func() exectest.Subject { return myExecutor{subjects.NewSimple(subjects.None)} })
}

// ExampleCheck prints the result without a test.
func ExampleCheck() {
	r := exectest.Check(
		func() exectest.Subject { return myExecutor{subjects.NewSimple(subjects.Reorders)} },
		exectest.Only("G2", "G4", "G6"),
	)
	for _, row := range r.Rows {
		fmt.Printf("%-3s %s\n", row.Guarantee, row.Status)
	}
	// Output:
	// G2  pass
	// G4  FAIL
	// G6  not supported
}
