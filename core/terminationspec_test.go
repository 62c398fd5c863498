package core_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"eventide/core"

	"pgregory.net/rapid"
)

// terminationSpec specifies a Termination that one goroutine uses: what its calls return, and which
// listeners have been called.
type terminationSpec struct {
	ended   bool
	report  core.Report
	err     error
	waiting []int // listeners that wait for the end
	called  []int
}

// onDone adds listener n. A listener with an odd number adds listener n+1 when it is called.
func (s *terminationSpec) onDone(n int) {
	if !s.ended {
		s.waiting = append(s.waiting, n)
		return
	}
	s.called = append(s.called, n)
	if n%2 == 1 {
		s.called = append(s.called, n+1)
	}
}

func (s *terminationSpec) end(report core.Report, err error) (first bool) {
	if s.ended {
		return false
	}
	s.ended, s.report, s.err = true, report, err
	s.called = append(s.called, s.waiting...)
	for _, n := range s.waiting {
		if n%2 == 1 { // its listener runs after all that waited
			s.called = append(s.called, n+1)
		}
	}
	s.waiting = nil
	return true
}

// recordCounter is a handler that counts records.
type recordCounter struct {
	slog.Handler
	n int
}

func (c *recordCounter) Enabled(context.Context, slog.Level) bool        { return true }
func (c *recordCounter) Handle(context.Context, slog.Record) (err error) { c.n++; return nil }

// TestPropG15Termination compares what NewTermination returns with terminationSpec. Listeners may panic.
func TestPropG15Termination(t *testing.T) {
	var logged recordCounter
	before := slog.Default()
	slog.SetDefault(slog.New(&logged))
	defer slog.SetDefault(before)
	why, cause := errors.New("why"), errors.New("cause")
	expired, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	rapid.Check(t, func(t *rapid.T) {
		var spec terminationSpec
		var refusal error
		var live core.Report
		term, end, err := core.NewTermination(func() error { return refusal }, func() core.Report { return live })
		if err != nil {
			t.Fatal(err)
		}
		var called []int
		var wrong string
		added, panicked := 1, 0
		logged.n = 0
		onDone := func(t *rapid.T) {
			n, panics := added, rapid.Bool().Draw(t, "panics")
			if added += 2; rapid.Bool().Draw(t, "adds no other") {
				n++
			}
			spec.onDone(n)
			term.OnDone(func(report core.Report, err error) {
				if report.Ran != spec.report.Ran || err != spec.err { // not Fatalf: a panic ends here
					wrong = fmt.Sprintf("G15: listener %d gets %d ran, %v; want %d, %v", n, report.Ran, err, spec.report.Ran, spec.err)
				}
				called = append(called, n)
				if n%2 == 1 {
					term.OnDone(func(core.Report, error) { called = append(called, n+1) })
				}
				if panics {
					panicked++
					panic("contained")
				}
			})
		}
		wait := func(t *rapid.T, ctx context.Context, otherwise error) {
			report, err := term.Wait(ctx)
			ran, want := live.Ran, otherwise
			if refusal != nil && ctx != nil {
				want = refusal
			}
			if spec.ended {
				ran = spec.report.Ran
				if ctx != nil {
					want = spec.err
				}
			}
			if report.Ran != ran || err != want && ctx != nil || ctx == nil && err == nil {
				t.Fatalf("G18: Wait returns %d ran, %v; want %d, %v (ended %v, refused %v)", report.Ran, err, ran, want, spec.ended, refusal)
			}
		}
		var ofMany atomic.Int64 // calls of listeners that several goroutines added at once
		addedByMany := int64(0)
		t.Repeat(map[string]func(*rapid.T){
			"OnDone of many": func(*rapid.T) {
				var goroutines sync.WaitGroup
				start := make(chan struct{})
				for range 4 {
					goroutines.Go(func() {
						<-start
						for range 100 {
							term.OnDone(func(core.Report, error) { ofMany.Add(1) })
						}
					})
				}
				close(start)
				goroutines.Wait()
				addedByMany += 400
			},
			"work":            func(*rapid.T) { live.Ran++ },
			"OnDone":          onDone,
			"OnDone nil":      func(*rapid.T) { term.OnDone(nil) },
			"enter the loop":  func(*rapid.T) { refusal = core.ErrInEventLoop },
			"leave the loop":  func(*rapid.T) { refusal = nil },
			"Wait without":    func(t *rapid.T) { wait(t, nil, nil) },
			"Wait until over": func(t *rapid.T) { wait(t, expired, cause) },
			"Wait for good": func(t *rapid.T) {
				if spec.ended || refusal != nil { // it would block
					wait(t, context.Background(), nil)
				}
			},
			"end": func(t *rapid.T) {
				report := core.Report{Ran: live.Ran + 100}
				err := rapid.SampledFrom([]error{nil, why}).Draw(t, "error")
				if want := spec.end(report, err); end(report, err) != want {
					t.Fatalf("G15: end returns %v, want %v", !want, want)
				}
			},
			"": func(t *rapid.T) {
				if wrong != "" {
					t.Fatal(wrong)
				}
				want := live
				if spec.ended {
					want = spec.report
				}
				if got := term.Report(); got.Ran != want.Ran || term.Err() != spec.err {
					t.Fatalf("G15: %d ran, Err %v; want %d, %v", got.Ran, term.Err(), want.Ran, spec.err)
				}
				if over := isClosed(term.Done()); over != spec.ended {
					t.Fatalf("G15: Done is closed: %v, want %v", over, spec.ended)
				}
				if got := ofMany.Load(); spec.ended && got != addedByMany || !spec.ended && got != 0 {
					t.Fatalf("G15: %d of %d listeners of several goroutines were called, Done is closed: %v", got, addedByMany, spec.ended)
				}
				if !slices.Equal(called, spec.called) {
					t.Fatalf("G15: listeners called: %v, want %v", called, spec.called)
				}
				if logged.n != panicked {
					t.Fatalf("G14: %d panics of listeners were logged, want %d", logged.n, panicked)
				}
			},
		})
	})
}
