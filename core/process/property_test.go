package process

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestPropG3ExitsOfGeneratedPlans runs generated plans in virtual time: steps with all
// their durations, executors with jobs and with producers that bring more until they are
// refused, functions that ignore their context. The time of a step is computed
// here from the doc comment of Step, and not by the code under test.
func TestPropG3ExitsOfGeneratedPlans(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(400) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newProgram(t, seed).run(seen) })
		})
	}
	for _, what := range []string{"clean", "deadline", "in time after Timeout", "left behind", "left behind, Drain", "left behind, no Drain", "not begun", "forced"} {
		if seen[what] < 10 {
			t.Errorf("the generator made %d of %q, want 10 or more: %v", seen[what], what, seen)
		}
	}
}

// program is one generated plan and what happened to it.
type program struct {
	t     *testing.T
	rng   *rand.Rand
	plan  Plan
	parts []*part
	began time.Time // the exit
}

// part observes one step.
type part struct {
	began, ended atomic.Int64 // offsets from the begin of the exit, plus one; 0: not yet
	timeout      atomic.Int64
	accepted     atomic.Int64
	ran          atomic.Int64
	ex           *core.Executor
}

func newProgram(t *testing.T, seed uint64) *program {
	p := &program{t: t, rng: rand.New(rand.NewPCG(seed, 3))}
	p.plan.Deadline = p.between(500*time.Millisecond, 30*time.Second)
	for i := range 1 + p.rng.IntN(5) {
		o := &part{}
		p.parts = append(p.parts, o)
		var s Step
		if p.rng.IntN(3) > 0 {
			s = p.executorStep(o)
		} else {
			s = p.runStep(o)
		}
		s.Name = fmt.Sprint("step ", i)
		p.plan.Steps = append(p.plan.Steps, s)
	}
	return p
}

// between has nanoseconds, so that no two things happen at the same instant.
func (p *program) between(least, most time.Duration) time.Duration {
	return least + time.Duration(p.rng.Int64N(int64(most-least)))
}

func (p *program) maybe(least, most time.Duration) time.Duration {
	if p.rng.IntN(2) == 0 {
		return 0
	}
	return p.between(least, most)
}

func (p *program) runStep(o *part) Step {
	takes, heeds := p.between(0, 8*time.Second), p.rng.IntN(2) == 0
	return Step{Deadline: p.maybe(time.Second, 8*time.Second), Run: func(ctx context.Context) error {
		p.stamp(&o.began)
		defer p.stamp(&o.ended)
		if !heeds {
			time.Sleep(takes)
			return nil
		}
		select {
		case <-time.After(takes):
		case <-ctx.Done():
		}
		return nil
	}}
}

func (p *program) executorStep(o *part) Step {
	s := Step{Timeout: p.maybe(time.Millisecond, 6*time.Second)}
	s.Quiet = p.maybe(0, min(time.Second, orDefault(s.Timeout, DefaultStepDeadline)))
	switch p.rng.IntN(4) {
	case 0:
		s.Drain = p.between(time.Millisecond, 10*time.Second)
	case 1:
		s.Deadline = orDefault(s.Timeout, DefaultStepDeadline) + p.between(0, 5*time.Second)
	}
	o.ex = coretest.NewExecutor(p.t)
	o.ex.Termination().OnDone(func(core.Report, error) { p.stamp(&o.ended) })
	s.Executor = observed{o.ex, p, o}
	length := p.between(time.Millisecond, time.Second)
	for range p.rng.IntN(30) {
		p.offer(o, length)
	}
	if pause := p.maybe(50*time.Millisecond, time.Second); pause > 0 {
		go func() {
			for p.offer(o, length/2) {
				time.Sleep(pause)
			}
		}()
	}
	return s
}

// offer reports whether a job was accepted.
func (p *program) offer(o *part, takes time.Duration) bool {
	if o.ex.Execute(func() { time.Sleep(takes); o.ran.Add(1) }) != nil {
		return false
	}
	o.accepted.Add(1)
	return true
}

func (p *program) stamp(at *atomic.Int64) { at.Store(int64(time.Since(p.began)) + 1) }

// observed records when and how long the executor is given.
type observed struct {
	*core.Executor
	p *program
	o *part
}

func (e observed) ShutdownGracefully(quiet, timeout time.Duration) (*core.Termination, error) {
	e.p.stamp(&e.o.began)
	e.o.timeout.Store(int64(timeout))
	return e.Executor.ShutdownGracefully(quiet, timeout)
}

// run judges the exit, and ends what it has left behind.
func (p *program) run(seen map[string]int) {
	time.Sleep(p.between(0, 3*time.Second))
	p.began = time.Now()
	signals := make(chan os.Signal, 2)
	signals <- os.Interrupt
	second := time.Duration(-1)
	if p.rng.IntN(6) == 0 {
		second = p.between(0, 10*time.Second)
		go func() { time.Sleep(second); signals <- os.Interrupt }()
	}
	p.plan.Logger = slog.New(slog.DiscardHandler)
	r := runWith(p.t.Context(), p.plan, func([]os.Signal) (<-chan os.Signal, func()) { return signals, func() {} })
	took := time.Since(p.began)
	synctest.Wait() // for the listeners that stamp the end
	if took == second {
		seen["forced"]++
		p.judgeForced(r)
	} else {
		p.judge(r, took, seen)
	}
	time.Sleep(5 * time.Second) // producers that were not refused go on
	for i, o := range p.parts {
		if o.ex == nil {
			continue
		}
		if accepted := o.accepted.Load(); r.Steps[i].Work.Accepted != accepted {
			p.t.Errorf("G5: step %d: the executor has accepted %d jobs, the report says %d", i, accepted, r.Steps[i].Work.Accepted)
		}
		o.ex.Shutdown()
		<-o.ex.Termination().Done()
	}
	time.Sleep(10 * time.Second) // functions that ignore their context
}

// judgeForced: the exit ended at the second signal; what it had not ended is lost, and said.
func (p *program) judgeForced(r Report) {
	if want := 128 + signalNumber(os.Interrupt); r.Code != want {
		p.t.Errorf("G16: exit code %d after a second signal, want %d: %+v", r.Code, want, r)
	}
	for i, o := range p.parts {
		if _, begun := at(&o.began); begun == (r.Steps[i].Outcome == NotBegun) {
			p.t.Errorf("G16: step %d has begun: %v; the report says %v", i, begun, r.Steps[i].Outcome)
		}
		p.judgeStep(i, r.Steps[i], r.Steps[i].Outcome != Done)
	}
}

func (p *program) judge(r Report, took time.Duration, seen map[string]int) {
	code, now := CodeClean, time.Duration(0)
	for i, o := range p.parts {
		s, got := p.plan.Steps[i], r.Steps[i]
		begin, hasBegun := at(&o.began)
		if now >= p.plan.Deadline {
			if hasBegun || got.Outcome != NotBegun {
				p.t.Errorf("G11: step %d began at %v, behind the Deadline %v", i, begin, p.plan.Deadline)
			}
			seen["not begun"]++
			code = CodeFailed
			continue
		}
		if !hasBegun || begin != now {
			p.t.Fatalf("G11: step %d began at %v (%v), want %v: %+v", i, begin, hasBegun, now, s)
		}
		timeout, limit := p.allowed(i, p.plan.Deadline-now)
		if asked := time.Duration(o.timeout.Load()); o.ex != nil && asked != timeout {
			p.t.Errorf("G11: step %d: ShutdownGracefully was called with a timeout of %v, want %v", i, asked, timeout)
		}
		over := min(now+limit, p.plan.Deadline)
		heed := min(heedTime, (p.plan.Deadline-over)/2)
		end, hasEnded := at(&o.ended)
		hasEnded = hasEnded && end <= took
		late := !hasEnded || end >= over
		p.judgeStep(i, got, late)
		switch {
		case late && over == p.plan.Deadline:
			now, code = over, CodeFailed
			seen["deadline"]++
		case late:
			code = CodeFailed
			seen["left behind"]++
			seen[map[bool]string{true: "left behind, Drain", false: "left behind, no Drain"}[s.Drain > 0]]++
			if now = over + heed; hasEnded {
				now = min(now, end)
			}
		default:
			if o.ex != nil && end > now+timeout {
				seen["in time after Timeout"]++
			}
			now = end
		}
		if late && over < p.plan.Deadline != got.DeadlinePassed {
			p.t.Errorf("G11: step %d: DeadlinePassed is %v, its time was over at %v, the Plan's at %v", i, got.DeadlinePassed, over, p.plan.Deadline)
		}
	}
	if r.Code != code || took != now {
		p.t.Errorf("G3: exit code %d after %v, want %d after %v: %+v", r.Code, took, code, now, r)
	}
	if code == CodeClean {
		seen["clean"]++
	}
}

// judgeStep: a step that ended in time has run all that it had accepted; one that did not
// says how much it had not.
func (p *program) judgeStep(i int, got StepReport, late bool) {
	o := p.parts[i]
	if !late && got.Outcome != Done {
		p.t.Errorf("step %d is %v, want done: %+v", i, got.Outcome, got)
	}
	if o.ex == nil {
		return
	}
	if got.Lost != got.Work.Accepted-got.Work.Ran || got.Lost < 0 {
		p.t.Errorf("G20: step %d: lost %d of %+v", i, got.Lost, got.Work)
	}
	if !late && (got.Lost != 0 || o.ran.Load() != o.accepted.Load()) {
		p.t.Errorf("G3: step %d ended, and ran %d of %d accepted jobs: %+v", i, o.ran.Load(), o.accepted.Load(), got)
	}
	if got.Outcome == StillRunning && got.Lost == 0 && o.ran.Load() != o.accepted.Load() {
		p.t.Errorf("G20: step %d is still running, and the report says that nothing is lost: %+v", i, got)
	}
}

func at(stamp *atomic.Int64) (time.Duration, bool) {
	v := stamp.Load()
	return time.Duration(v - 1), v != 0
}

// allowed is the doc comment of Step, "The time of a step".
func (p *program) allowed(i int, left time.Duration) (timeout, limit time.Duration) {
	s := p.plan.Steps[i]
	var kept time.Duration
	for _, later := range p.plan.Steps[i+1:] {
		kept += heedTime
		switch {
		case later.Deadline > 0:
			kept += later.Deadline
		case later.Executor == nil:
			kept += time.Second
		default:
			kept += max(later.Timeout, later.Quiet) + later.Drain
			if later.Drain == 0 {
				kept += time.Second
			}
		}
	}
	if s.Executor == nil {
		if s.Deadline > 0 {
			return 0, s.Deadline
		}
		return 0, min(DefaultStepDeadline, left-min(kept, left/2+left%2))
	}
	drain := s.Drain
	if drain == 0 {
		drain = time.Second
	}
	timeout = s.Timeout
	if timeout == 0 {
		timeout = DefaultStepDeadline
	}
	timeout = max(min(timeout, left-min(drain, left/2)), s.Quiet)
	switch {
	case s.Deadline > 0:
		return timeout, s.Deadline
	case s.Drain > 0:
		return timeout, timeout + s.Drain
	}
	rest := max(0, left-timeout)
	return timeout, timeout + rest - min(kept, rest/2+rest%2)
}
