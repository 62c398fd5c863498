package pollertest_test

import (
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/pollertest"
)

// must fails the test for each error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// polled polls once, and returns the events as text.
func polled(t *testing.T, m *pollertest.Model) string {
	t.Helper()
	must(t, m.Poll())
	return fmt.Sprint(m.Ready())
}

func event(token uint64, r core.Readiness) string {
	return fmt.Sprint([]core.PollEvent{{Token: token, Readiness: r}})
}

// TestReportsRotate: a poll reports descriptors in the order in which they were added, and those
// of the last report come last.
func TestReportsRotate(t *testing.T) {
	m := pollertest.NewModel(nil)
	if got := polled(t, m); got != "[]" || m.Closed() {
		t.Errorf("a new model reports %s, closed %v, want nothing", got, m.Closed())
	}
	var all []*pollertest.Descriptor
	for token := range uint64(3) {
		d := m.Open()
		all = append(all, d)
		must(t, m.Add(d.FD(), core.Readable, token), d.Input())
	}
	m.Limit(1)
	for i := range 6 {
		if got, want := polled(t, m), event(uint64(i%3), core.NewReadiness(true, false, false, false)); got != want {
			t.Errorf("poll %d: %s, want %s", i, got, want)
		}
	}
	m.Limit(0)
	must(t, m.Poll())
	if got := len(m.Ready()); got != 3 {
		t.Errorf("without a limit %d events, want 3", got)
	}
	if token, interest, ok := m.Watched(all[1].FD()); token != 1 || interest != core.Readable || !ok {
		t.Errorf("watched with %d, %v, %v, want 1, Readable, true", token, interest, ok)
	}
	must(t, all[1].Close())
	if _, _, ok := m.Watched(all[1].FD()); ok {
		t.Error("a closed descriptor is watched")
	}
	if got := m.Open().FD(); got != all[1].FD() {
		t.Errorf("the next number is %d, want the lowest free one, %d", got, all[1].FD())
	}
	if got := m.Count(pollertest.Poll); got != 8 {
		t.Errorf("%d polls are counted, want 8", got)
	}
	must(t, m.Close())
	if !m.Closed() {
		t.Error("Closed is false after Close")
	}
}

// TestEventsOfADescriptor: each change of a descriptor has its readiness.
func TestEventsOfADescriptor(t *testing.T) {
	m := pollertest.NewModel(nil)
	d := m.Open()
	must(t, m.Add(d.FD(), core.Readable|core.Writable, 7))
	for _, step := range []struct {
		name   string
		change func() error
		want   core.Readiness
	}{
		{"open", func() error { return nil }, core.NewReadiness(false, true, false, false)},
		{"Fill", d.Fill, 0},
		{"Input", d.Input, core.NewReadiness(true, false, false, false)},
		{"Room", d.Room, core.NewReadiness(true, true, false, false)},
		{"Drain", d.Drain, core.NewReadiness(false, true, false, false)},
		{"HangUp", d.HangUp, core.NewReadiness(true, true, true, false)},
		{"Fault", d.Fault, core.NewReadiness(true, true, true, true)},
	} {
		must(t, step.change())
		want := "[]"
		if step.want != 0 {
			want = event(7, step.want)
		}
		if got := polled(t, m); got != want {
			t.Errorf("after %s: %s, want %s", step.name, got, want)
		}
	}
	must(t, d.Close())
	if d.Input() == nil {
		t.Error("Input of a closed descriptor returned nil, want an error")
	}
	if err := m.Modify(d.FD(), core.Readable, 7); err != syscall.EBADF {
		t.Errorf("Modify of a closed descriptor: %v, want EBADF", err)
	}
}

// TestSpuriousAndInjected: calls of Wait that return without a reason, and events of descriptors
// that nobody watches.
func TestSpuriousAndInjected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := pollertest.NewModel(nil)
		m.Spurious(2)
		began := time.Now()
		for i := range 3 {
			must(t, m.Wait(began.Add(time.Hour)))
			if took, want := time.Since(began), time.Duration(i/2)*time.Hour; took != want || len(m.Ready()) != 0 {
				t.Errorf("return %d after %v with %v, want after %v with nothing", i, took, m.Ready(), want)
			}
		}
		phantom := core.PollEvent{Token: 9, Readiness: core.NewReadiness(true, false, false, false)}
		m.Inject(phantom)
		must(t, m.Wait(core.Deadline{}))
		if got := fmt.Sprint(m.Ready()); got != event(9, phantom.Readiness) {
			t.Errorf("got %s, want the injected event", got)
		}
		if got := polled(t, m); got != "[]" {
			t.Errorf("the next poll reports %s, want nothing", got)
		}
		m.Wake()
		must(t, m.Wait(core.Deadline{}))
		if got := m.Count(pollertest.Wake); got != 1 {
			t.Errorf("%d wakes are counted, want 1", got)
		}
	})
}

// aheadClock is a thousand years ahead of the system's clock. No alarm of it fires.
type aheadClock struct{}

func (aheadClock) Now() time.Time { return time.Now().AddDate(1000, 0, 0) }

func (aheadClock) AfterFunc(time.Duration, func()) core.Alarm { return noAlarm{} }

type noAlarm struct{}

func (noAlarm) Stop() bool { return true }

func (noAlarm) Reset(time.Duration) bool { return true }

// TestDeadlinesOfTheModelAreByItsClock: Wait returns at a deadline that has passed on the clock of
// the model and not on that of the system.
func TestDeadlinesOfTheModelAreByItsClock(t *testing.T) {
	m := pollertest.NewModel(aheadClock{})
	must(t, m.Wait(aheadClock{}.Now()))
	must(t, m.Close())
}
