package core_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// recorder keeps the events of one executor.
type recorder struct {
	mu     sync.Mutex
	events []core.Event
}

func (r *recorder) Trace(ev core.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, ev)
}

func (r *recorder) all() []core.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]core.Event(nil), r.events...)
}

// text returns the events of the given kinds, one word each.
func (r *recorder) text(kinds ...core.EventKind) string {
	var words []string
	for _, ev := range r.all() {
		for _, kind := range kinds {
			if ev.Kind == kind {
				words = append(words, word(ev))
			}
		}
	}
	return strings.Join(words, " ")
}

func word(ev core.Event) string {
	switch ev.Kind {
	case core.EventAdmit:
		return fmt.Sprintf("%v:%v", ev.Op, ev.Accepted)
	case core.EventBegin:
		return fmt.Sprintf("begin(%v)", ev.Body)
	case core.EventEnd:
		return fmt.Sprintf("end(%v,%v)", ev.Body, ev.Outcome)
	case core.EventState:
		return fmt.Sprintf("%v->%v", ev.From, ev.To)
	}
	return ev.Kind.String()
}

func TestTracerSeesTheLifeOfAnExecutorInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var r recorder
		ex := coretest.NewExecutor(t, core.WithTracer(&r))
		release := occupy(t, ex)
		coretest.MustExecute(t, ex, panics)
		core.Submit(ex, give(1)).Cancel()
		timer := mustSchedule(t, ex, time.Hour, func() {})
		timer.Cancel()
		mustHook(t, ex, goexit)
		mustHook(t, ex, func() {})()
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
		ex.Shutdown()
		_ = ex.Execute(func() {})
		release()
		coretest.AwaitDone(t, ex)
		calls := "execute:true execute:true execute:true schedule:true cancel:true hook:true " +
			"hook:true unhook:true graceful:true shutdown:true execute:false"
		if got := r.text(core.EventAdmit); got != calls {
			t.Errorf("calls:\n got %s\nwant %s", got, calls)
		}
		states := "NotStarted->Started Started->ShuttingDown ShuttingDown->Shutdown Shutdown->Terminated"
		if got := r.text(core.EventState); got != states {
			t.Errorf("G1: states:\n got %s\nwant %s", got, states)
		}
		bodies := "begin(task) end(task,normal) begin(task) end(task,panicked) begin(listener) end(listener,normal) " +
			"begin(task) end(task,skipped) begin(hook) end(hook,exited)"
		if got := r.text(core.EventBegin, core.EventEnd); got != bodies {
			t.Errorf("bodies:\n got %s\nwant %s", got, bodies)
		}
	})
}

// Terminated comes after the poller is closed, Done comes last.
func TestG15TheLastEvents(t *testing.T) {
	var r recorder
	ex := coretest.NewExecutor(t, core.WithTracer(&r))
	mustHook(t, ex, func() {})
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	_ = ex.Execute(func() {})
	events := r.all()
	var last []string
	for _, ev := range events[len(events)-4:] {
		last = append(last, word(ev))
	}
	if got, want := strings.Join(last, " "), "PollerClosed Shutdown->Terminated Done execute:false"; got != want {
		t.Errorf("G15: the last events are %q, want %q", got, want)
	}
	begins := map[core.EventKind]bool{}
	for _, ev := range events {
		if begins[core.EventPollerClosed] && (ev.Kind == core.EventBegin || ev.Kind == core.EventPark) {
			t.Errorf("G15: %v after the poller was closed", ev.Kind)
		}
		begins[ev.Kind] = true
	}
}

// V1 of the predicates: whenever the loop announces that it sleeps, there is
// nothing to do, and it sleeps no longer than until the first deadline.
func TestG12WhatAParkAnnounces(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var r recorder
		ex := coretest.NewExecutor(t, core.WithTracer(&r), core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		coretest.OnLoop(t, ex, func() {})
		synctest.Wait() // it parks without a deadline
		mustSchedule(t, ex, 2*time.Hour, func() {})
		synctest.Wait()
		mustSchedule(t, ex, time.Hour, func() { mustSchedule(t, ex, time.Minute, func() {}) })
		time.Sleep(3 * time.Hour)
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
		coretest.AwaitDone(t, ex)
		var parks []string
		for _, ev := range r.all() {
			if ev.Kind != core.EventPark {
				continue
			}
			if ev.Queued != 0 || ev.NextTimer >= 0 && (ev.Until < 0 || ev.Until > ev.NextTimer) {
				t.Errorf("G12: %+v, want nothing queued and a sleep no longer than the first deadline", ev)
			}
			if s := fmt.Sprintf("%v/%v", ev.Until, ev.To); len(parks) == 0 || parks[len(parks)-1] != s {
				parks = append(parks, s)
			}
		}
		want := "-1ns/Started 2h0m0s/Started 1h0m0s/Started 1h1m0s/Started 2h0m0s/Started -1ns/Started 3h0m1s/ShuttingDown"
		if got := strings.Join(parks, " "); got != want {
			t.Errorf("G12: parks until\n got %s\nwant %s", got, want)
		}
	})
}

func TestTracerSeesWakesAndUnparks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var r recorder
		ex := coretest.NewExecutor(t, core.WithTracer(&r))
		coretest.OnLoop(t, ex, func() {})
		synctest.Wait()
		before := len(r.all())
		coretest.MustExecute(t, ex, func() {})
		synctest.Wait()
		var words []string
		for _, ev := range r.all()[before:] {
			words = append(words, word(ev))
		}
		want := "execute:true Wake Unpark begin(task) end(task,normal) Park"
		if got := strings.Join(words, " "); got != want {
			t.Errorf("G12:\n got %s\nwant %s", got, want)
		}
	})
}

func TestTimersCancelledByThePolicyAreTraced(t *testing.T) {
	var r recorder
	ex := coretest.NewExecutor(t, core.WithTracer(&r))
	for range 3 {
		mustSchedule(t, ex, time.Hour, func() {})
	}
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	if got, want := r.text(core.EventTimerCancelled), "TimerCancelled TimerCancelled TimerCancelled"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Events of bodies are stamped with the loop's goroutine, calls with the caller's.
func TestTracerGoroutines(t *testing.T) {
	var r recorder
	ex := coretest.NewExecutor(t, core.WithTracer(&r))
	coretest.OnLoop(t, ex, func() {})
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	var caller, loop int64
	for _, ev := range r.all() {
		switch ev.Kind {
		case core.EventAdmit:
			caller = ev.Goroutine
		case core.EventBegin:
			loop = ev.Goroutine
		case core.EventEnd, core.EventDone:
			if ev.Goroutine != loop {
				t.Errorf("%v on goroutine %d, want the loop's %d", ev.Kind, ev.Goroutine, loop)
			}
		}
	}
	if caller == 0 || loop == 0 || caller == loop {
		t.Errorf("goroutines: caller %d, loop %d; want two", caller, loop)
	}
}

// panickingTracer panics at every event.
type panickingTracer struct{}

func (panickingTracer) Trace(core.Event) { panic("tracer") }

func TestATracerThatPanicsIsIgnored(t *testing.T) {
	ex := coretest.NewExecutor(t, core.WithTracer(panickingTracer{}))
	ran := false
	coretest.OnLoop(t, ex, func() { ran = true })
	if err := ex.Close(); err != nil || !ran {
		t.Errorf("Close: %v, ran %v; want nil, true", err, ran)
	}
}
