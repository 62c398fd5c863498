package coretest

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"eventide/core"
)

// HangGuard bounds waits in tests: a hang becomes a failure that names the awaited event. It is
// no bound on speed, and in a bubble of testing/synctest it is virtual.
const HangGuard = time.Minute

// Await returns when done is closed or delivers a value. If that takes longer than HangGuard, it
// fails the test with what and the stack of every goroutine.
func Await[T any](t testing.TB, what string, done <-chan T) {
	t.Helper()
	guard := time.NewTimer(HangGuard)
	defer guard.Stop()
	select {
	case <-done:
	case <-guard.C:
		t.Fatalf("waited for %s in vain\n%s", what, stacks())
	}
}

// Until polls holds on the caller's goroutine, and returns when holds returns true. It is for a
// condition that no channel announces. If holds is still false after HangGuard, Until fails the
// test.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(HangGuard); !holds(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("waited for %s in vain\n%s", what, stacks())
		}
	}
}

// AwaitCollected returns when the garbage collector has found the value unreachable that use has made
// and used, and to which nothing should refer any more. It fails the test as Until does.
func AwaitCollected[T any](t testing.TB, what string, use func() *T) {
	t.Helper()
	collected := make(chan struct{})
	runtime.AddCleanup(use(), func(c chan struct{}) { close(c) }, collected)
	Until(t, "the collection of "+what, func() bool {
		runtime.GC()
		select {
		case <-collected:
			return true
		default:
			return false
		}
	})
}

// Terminating has the methods of an executor or a group that concern its end.
type Terminating interface {
	Shutdown() *core.Termination
	Termination() *core.Termination
	State() core.State
}

// AwaitDone returns the sealed report of ex once ex has terminated. If that takes longer than
// HangGuard, it fails the test.
func AwaitDone(t testing.TB, ex Terminating) core.Report {
	t.Helper()
	return AwaitDoneWithin(t, ex, HangGuard)
}

// AwaitDoneWithin is AwaitDone with another guard. It is for an end that is far away in virtual
// time.
func AwaitDoneWithin(t testing.TB, ex Terminating, guard time.Duration) core.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	report, err := ex.Termination().Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("G15: no termination within %v; state %v, report %+v\n%s", guard, ex.State(), report, stacks())
	}
	return report
}

// AwaitErr waits until a future is complete, and returns its error.
func AwaitErr[T any](t testing.TB, what string, f *core.Future[T]) error {
	t.Helper()
	Await(t, what, f.Done())
	_, err := f.Wait(context.Background())
	return err
}

// stacks returns the stacks of all goroutines, up to 64 KiB.
func stacks() []byte {
	buf := make([]byte, 1<<16)
	return buf[:runtime.Stack(buf, true)]
}
