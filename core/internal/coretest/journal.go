package coretest

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Journal is an ordered list of events. The zero Journal is empty. Any goroutine may call its
// methods.
type Journal struct {
	mu      sync.Mutex
	entries []string
	changed chan struct{} // closed and set to nil by the next Add; nil if nobody waits
}

// Add appends entry.
func (j *Journal) Add(entry string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, entry)
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

// Adds returns a body that appends entry.
func (j *Journal) Adds(entry string) func() { return func() { j.Add(entry) } }

// All returns the entries so far.
func (j *Journal) All() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

// String returns the entries so far with spaces between them.
func (j *Journal) String() string { return strings.Join(j.All(), " ") }

// Want fails the test unless the entries so far, with spaces between them, are want. what names
// the guarantee or the behaviour under test.
func (j *Journal) Want(t testing.TB, what, want string) {
	t.Helper()
	if got := j.String(); got != want {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// Await returns when the journal has n entries equal to entry. If that takes longer than
// HangGuard, it fails the test.
func (j *Journal) Await(t testing.TB, n int, entry string) {
	t.Helper()
	guard := time.NewTimer(HangGuard)
	defer guard.Stop()
	for {
		changed := j.unless(n, entry)
		if changed == nil {
			return
		}
		select {
		case <-changed:
		case <-guard.C:
			t.Fatalf("waited for %d times %q in vain; got %q", n, entry, j)
		}
	}
}

// unless returns nil if the journal has n entries equal to entry; otherwise it returns a channel
// that the next Add closes.
func (j *Journal) unless(n int, entry string) <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if e == entry {
			n--
		}
	}
	if n <= 0 {
		return nil
	}
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	return j.changed
}
