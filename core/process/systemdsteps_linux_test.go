package process

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
)

// TestSystemdExtendsUntilTheDeadlineAtMost: before a step the service manager receives the time of the step, but at most the
// time until the deadline of the exit, and a second for the machine.
func TestSystemdExtendsUntilTheDeadlineAtMost(t *testing.T) {
	conn := manager(t, "@eventide-"+rand.Text())
	received := untilTheEnd(conn)
	address := "@" + strings.TrimPrefix(conn.LocalAddr().String(), "@")
	t.Setenv("NOTIFY_SOCKET", address)
	synctest.Test(t, func(t *testing.T) {
		step := func(name string, deadline time.Duration) Step {
			return Step{Name: name, Deadline: deadline, Run: func(context.Context) error {
				time.Sleep(2 * time.Second) // of the bubble
				return nil
			}}
		}
		tr := launch(t, t.Context(), Plan{Deadline: 10 * time.Second, Steps: []Step{
			step("long", time.Hour), step("exact", 8*time.Second), step("short", 3*time.Second), step("late", 5*time.Second),
		}})
		tr.signals <- os.Interrupt
		tr.wantCode(CodeClean)
		coretest.Must(t, (&supervisor{address: address}).send("the end"))
	})
	want := []string{"READY=1", "STOPPING=1", "EXTEND_TIMEOUT_USEC=11000000", "EXTEND_TIMEOUT_USEC=9000000", "EXTEND_TIMEOUT_USEC=4000000", "EXTEND_TIMEOUT_USEC=5000000"}
	if got := <-received; !slices.Equal(got, want) {
		t.Errorf("the manager has received %q, want %q", got, want)
	}
}

// TestSystemdKnowsAStepBeforeItBegins: the service manager receives the time of a step before the step is called.
func TestSystemdKnowsAStepBeforeItBegins(t *testing.T) {
	conn := manager(t, "@eventide-"+rand.Text())
	address := "@" + strings.TrimPrefix(conn.LocalAddr().String(), "@")
	t.Setenv("NOTIFY_SOCKET", address)
	plan := Plan{Deadline: time.Hour}
	for i := range 200 { // a step that is called too early is not always the first to send
		plan.Steps = append(plan.Steps, Step{Name: fmt.Sprint(i), Deadline: time.Minute, Run: func(context.Context) error {
			if err := (&supervisor{address: address}).send("the end"); err != nil {
				return err
			}
			var got []string
			for len(got) == 0 || got[len(got)-1] != "the end" {
				got = append(got, heard(t, conn))
			}
			if n := len(got); n < 2 || !strings.HasPrefix(got[n-2], "EXTEND_TIMEOUT_USEC=") {
				t.Errorf("before step %d the manager has received %q, want EXTEND_TIMEOUT_USEC last", i, got[:n-1])
			}
			return nil
		}})
	}
	coretest.Want(t, "exit code", runToEnd(t, plan).Code, CodeClean)
}
