package core_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// do makes a step, and returns what the pool and the model say to it.
func (r *poolRun) do(t *testing.T, op poolOp) (got, want bool) {
	m, p := r.poolModel, r.pool
	r.ids++
	call := stepCall{r.ids, op.how}
	delay := op.d
	if op.e == 0 {
		delay = -delay // which counts as zero
	}
	b := &stepBody{calls: []stepCall{call}}
	body := func() { r.call(call) }
	ok := func(err error) bool { return err == nil }
	switch op.op {
	case "execute", "try", "lazy":
		b.kind = core.BodyTask
		submit, kind := p.Execute, core.OpExecute
		if op.op == "try" {
			submit = p.TryExecute
		} else if op.op == "lazy" {
			submit, kind = p.ExecuteLazy, core.OpExecuteLazy
		}
		return ok(submit(body)), m.task(kind, b)
	case "submit":
		b.kind = core.BodyTask
		var refused *core.RejectedError
		_, err := core.Submit(p, func() (int, error) { body(); return 0, nil }).Wait(r.over)
		return !errors.As(err, &refused), m.task(core.OpExecute, b)
	case "skip":
		if m.job == nil {
			return false, false // it might begin before Cancel
		}
		b.kind, b.calls[0].how = core.BodyTask, "skip"
		return core.Submit(p, func() (int, error) { return 0, nil }).Cancel(), m.task(core.OpExecute, b)
	case "schedule", "rate", "delay":
		b.kind = core.BodyTimer
		timer := &stepTimer{body: b}
		b.timer = timer
		var err error
		first := op.d
		switch period := op.e + 10*time.Millisecond; op.op {
		case "rate":
			timer.timer, err = p.ScheduleAtFixedRate(op.d, period, body)
			timer.period = period
		case "delay":
			timer.timer, err = p.ScheduleWithFixedDelay(op.d, period, body)
			timer.period = -period
		default:
			timer.timer, err = p.Schedule(delay, body)
			first = max(delay, 0)
		}
		m.timers = append(m.timers, timer)
		if want = m.schedule(timer, first); !want {
			m.timers = m.timers[:len(m.timers)-1]
		}
		return ok(err), want
	case "cancel", "reset", "again":
		if len(m.timers) == 0 {
			return false, false
		}
		timer := m.timers[len(m.timers)-1-op.n%len(m.timers)]
		for _, t := range m.timers {
			if op.op == "again" && t.over && t.period == 0 {
				timer = t
			}
		}
		switch op.op {
		case "cancel":
			return timer.timer.Cancel(), m.cancel(timer)
		case "reset":
			return timer.timer.Reset(delay), m.reset(timer, max(delay, 0))
		}
		err := p.ScheduleTimer(timer.timer, delay, body)
		if timer.period != 0 || !timer.over && m.open(core.OpSchedule) {
			return ok(err), false
		}
		b.kind, b.timer = core.BodyTimer, timer
		want := timer.over && m.schedule(timer, max(delay, 0))
		if want {
			timer.body = b
		}
		return ok(err), want
	case "hook":
		b.kind = core.BodyHook
		remove, err := p.AddShutdownHook(body)
		if err == nil {
			r.removes = append(r.removes, remove)
		}
		return ok(err), m.addHook(b)
	case "remove":
		if n := len(r.removes); n > 0 {
			return r.removes[op.n%n](), m.removeHook(op.n % n)
		}
	case "listener":
		b.kind = core.BodyListener
		promise := core.NewPromise[int](p)
		promise.Future().OnDone(func(int, error) { body() })
		for range op.n {
			r.ids++
			call := stepCall{r.ids, ""}
			promise.Future().OnDone(func(int, error) { r.call(call) })
			b.calls = append(b.calls, call)
		}
		if want = m.listen(b); want { // else they run on this goroutine
			promise.TrySuccess(1)
		}
		return want, want
	case "fill":
		for i := 0; i < m.limit && m.stats.State != core.StateNotStarted; i++ {
			r.ids++
			call := stepCall{r.ids, ""}
			got, want = ok(p.ExecuteLazy(func() { r.call(call) })), m.task(core.OpExecuteLazy, &stepBody{kind: core.BodyTask, calls: []stepCall{call}})
			if got != want {
				return got, want
			}
			synctest.Wait() // the last one wakes the worker
			m.settle()
		}
	case "wrong":
		return ok(r.wrong(op.n)), false
	case "running":
		text, got := m.describe(), p.Running()
		m.posted()
		coretest.Must(t, p.Resize(1)) // behind Running: it wakes the worker, which may have lazy tasks to run
		return strings.HasPrefix(got, text) && (got == "") == (text == ""), true
	case "pass":
		time.Sleep(op.d)
		m.settle()
		m.pass(op.d)
	case "release":
		if m.job != nil {
			how := op.how
			if how == "block" {
				how = ""
			}
			r.gate <- how
			if how == "" {
				m.proceed()
			} else {
				m.ends(how)
			}
		}
	case "graceful":
		timeout := time.Duration(0)
		if op.e > 0 {
			timeout = 5*op.e + 1 // no alarm of the worker is at the end of the timeout
		}
		quiet := max(0, min(2*op.d, timeout-1))
		_, err := p.ShutdownGracefully(quiet, timeout)
		m.shut(true, quiet, timeout)
		return ok(err), true
	case "shutdown":
		p.Shutdown()
		m.shut(false, 0, 0)
	}
	return false, false
}
