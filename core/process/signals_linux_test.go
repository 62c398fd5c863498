package process

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/core/internal/coretest"
)

// Of SIGPROF the Go runtime delivers nothing, and 32 to 34 belong to the C library's
// threads: the runtime leaves them as they are, which kills.
func TestSignalsThatGoCannotDeliverAreRefused(t *testing.T) {
	for _, row := range []struct {
		sig  syscall.Signal
		want []string // parts of the error; none: it is good
	}{
		{syscall.SIGVTALRM, nil},
		{syscall.SIGPROF, []string{"Signals[1] is profiling timer expired", "caught", "SIGPROF"}},
		{syscall.SIGWINCH, nil},
		{31, nil},
		{32, []string{"Signals[1] is signal 32", "caught", "32 to 34"}},
		{33, []string{"Signals[1] is signal 33", "caught", "32 to 34"}},
		{34, []string{"Signals[1] is signal 34", "caught", "32 to 34"}},
		{35, nil},
	} {
		err := Plan{Signals: []os.Signal{os.Interrupt, row.sig}}.Validate()
		switch {
		case len(row.want) == 0:
			if err != nil {
				t.Errorf("signal %d: Validate: %v, want nil", int(row.sig), err)
			}
		case err == nil || !holdsAll(err.Error(), row.want):
			t.Errorf("signal %d: Validate: %v, want an error with %s", int(row.sig), err, strings.Join(row.want, ", "))
		}
	}
}

// What is accepted can be delivered.
func TestSignalsThatAreAcceptedArrive(t *testing.T) {
	if (Plan{Signals: []os.Signal{syscall.Signal(34)}}).Validate() == nil {
		t.Fatal("signal 34 is accepted, and would end this test")
	}
	for n := syscall.Signal(1); n <= 64; n++ {
		if (Plan{Signals: []os.Signal{n}}).Validate() != nil {
			continue
		}
		signals, stop := subscribe([]os.Signal{n})
		if err := syscall.Kill(os.Getpid(), n); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-signals:
			if got != n {
				t.Errorf("signal %d: got %v", int(n), got)
			}
		case <-time.After(coretest.HangGuard):
			t.Fatalf("signal %d never came", int(n))
		}
		stop()
		signal.Reset(n)
	}
}
