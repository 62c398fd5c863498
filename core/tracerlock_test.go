package core

import (
	"errors"
	"reflect"
	"sync"
	"testing"
)

// lockTracer checks each event of one executor: whether the lock is held, and which fields are
// set. The test makes one call at a time, so no other goroutine holds the lock.
type lockTracer struct {
	mu   *sync.Mutex // of the executor
	seen map[EventKind]int
	bad  []Event // kinds that must come with the lock held, and did not
	wide []Event // with a field that has no meaning for the kind
}

// fieldsOf are the fields that a kind may set, besides Kind and Goroutine.
var fieldsOf = map[EventKind][]string{
	EventAdmit: {"Op", "Accepted"}, EventBegin: {"Body"}, EventEnd: {"Body", "Outcome"}, EventState: {"From", "To", "Reason"},
	EventPark: {"Until", "NextTimer", "Queued", "To"}, EventUnpark: nil, EventWake: nil, EventTimerCancelled: nil,
	EventPollerClosed: nil, EventDone: nil, EventRegistrationClosed: {"Reason"},
}

func (r *lockTracer) Trace(ev Event) {
	r.seen[ev.Kind]++
	withLock := ev.Kind == EventAdmit || ev.Kind == EventState && ev.To != StateTerminated || ev.Kind == EventPark ||
		ev.Kind == EventWake || ev.Kind == EventTimerCancelled || ev.Kind == EventRegistrationClosed
	if withLock && r.mu.TryLock() {
		r.mu.Unlock()
		r.bad = append(r.bad, ev)
	}
	rest := reflect.ValueOf(ev)
	for i := range rest.NumField() {
		name := rest.Type().Field(i).Name
		if name == "Kind" || name == "Goroutine" || rest.Field(i).IsZero() {
			continue
		}
		known := false
		for _, field := range fieldsOf[ev.Kind] {
			known = known || field == name
		}
		if !known || name == "Reason" && ev.Kind == EventState && ev.To < StateShutdown {
			r.wide = append(r.wide, ev)
		}
	}
}

// traceOneLife traces an event loop that sees events of every kind. Its spawner keeps the function
// of the loop, and the test calls it, so that one goroutine makes all calls.
func traceOneLife(t *testing.T) *lockTracer {
	t.Helper()
	r := &lockTracer{seen: map[EventKind]int{}}
	var run func()
	poller := &wakingPoller{chanPoller: newChanPoller(nil)}
	l, err := NewEventLoop(WithTracer(r), WithPoller(poller), WithSpawner(func(loop func()) error { run = loop; return nil }))
	if err != nil {
		t.Fatal(err)
	}
	r.mu = &l.mu
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(l.Execute(func() {}))
	timer, err := l.Schedule(1<<40, func() {})
	must(err)
	_, err = l.Schedule(1<<40, func() {}) // for the policy
	must(err)
	_, err = l.AddShutdownHook(func() { panic("planted") })
	must(err)
	closed, err := l.Register(1, Readable, func(Readiness) {})
	must(err)
	_, err = l.Register(2, Readable, func(Readiness) {}) // for the shutdown
	must(err)
	poller.during = func() { // the loop has announced that it sleeps
		poller.during = func() {}
		timer.Cancel()
		must(closed.Close())
		must(l.Execute(func() { _, _ = l.ShutdownGracefully(0, DefaultShutdownTimeout) }))
	}
	run()
	<-l.term.done
	if err := l.Execute(func() {}); err == nil {
		t.Error("a task was accepted after Done")
	}
	for kind := EventAdmit; kind <= EventRegistrationClosed; kind++ {
		if r.seen[kind] == 0 {
			t.Errorf("not exercised: no event %v", kind)
		}
	}
	return r
}

// wakingPoller calls a function in each Wait, before the sleep. It has no events.
type wakingPoller struct {
	*chanPoller
	during func()
}

func (p *wakingPoller) Wait(until Deadline) error {
	p.during()
	return p.chanPoller.Wait(until)
}

func (*wakingPoller) Add(int, Interest, uint64) error    { return nil }
func (*wakingPoller) Modify(int, Interest, uint64) error { return nil }
func (*wakingPoller) Remove(int) error                   { return nil }
func (*wakingPoller) Poll() error                        { return nil }
func (*wakingPoller) Ready() []PollEvent                 { return nil }
func (*wakingPoller) Reopen() error                      { return nil }

// TestEventsWithTheLockHeld: the kinds of events that are traced with the executor's lock held,
// so that their order is that of what happened.
func TestEventsWithTheLockHeld(t *testing.T) {
	for _, ev := range traceOneLife(t).bad {
		t.Errorf("%v was traced without the lock: %+v", ev.Kind, ev)
	}
}

// TestRefusalsWithTheLockHeld: the lock is held too for the event of a call that is refused: because no
// loop could be started for it, and after the end.
func TestRefusalsWithTheLockHeld(t *testing.T) {
	fails := WithSpawner(func(func()) error { return errors.New("no goroutine") })
	for kind, made := range map[string]func(r *lockTracer) (ex EventExecutor, err error){
		"executor": func(r *lockTracer) (EventExecutor, error) {
			ex, err := NewExecutor(WithTracer(r), fails)
			r.mu = &ex.mu
			return ex, err
		},
		"pool": func(r *lockTracer) (EventExecutor, error) {
			p, err := NewPool(2, WithTracer(r), fails)
			r.mu = &p.mu
			return p, err
		},
	} {
		t.Run(kind, func(t *testing.T) {
			r := &lockTracer{seen: map[EventKind]int{}}
			ex, err := made(r)
			if err != nil {
				t.Fatal(err)
			}
			calls := map[string]func() error{
				"Execute":     func() error { return ex.Execute(func() {}) },
				"ExecuteLazy": func() error { return ex.ExecuteLazy(func() {}) },
				"Schedule":    func() error { _, err := ex.Schedule(0, func() {}); return err },
			}
			for range 2 { // before the end, and after it
				for name, call := range calls {
					before := r.seen[EventAdmit]
					if call() == nil {
						t.Errorf("%s was accepted", name)
					}
					if n := r.seen[EventAdmit] - before; n != 1 {
						t.Errorf("%s has %d events, want one", name, n)
					}
				}
				ex.Shutdown()
				<-ex.Termination().Done()
			}
			for _, ev := range r.bad {
				t.Errorf("%v was traced without the lock: %+v", ev.Kind, ev)
			}
		})
	}
}

// TestEventsHaveTheFieldsOfTheirKind: all other fields are zero. The reason of a move is known
// from Shutdown on.
func TestEventsHaveTheFieldsOfTheirKind(t *testing.T) {
	r := traceOneLife(t)
	for _, ev := range r.wide {
		t.Errorf("%v has a field without a meaning: %+v", ev.Kind, ev)
	}
}
