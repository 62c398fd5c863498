package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"eventide/core"
)

// Validate returns nil, or every mistake of the plan, joined. Each mistake is one line, which
// names the field, its value, and the values that are allowed. The mistakes of the plan's
// durations come first: a negative PreDrain, Deadline and Health.StuckAfter, and a PreDrain that
// is not less than Deadline. Then come those of Signals, of Start and Starts, and of Steps, each
// in the order of the list. Run calls Validate before it starts anything.
func (p Plan) Validate() error {
	errs := []error{
		notNegative("PreDrain", p.PreDrain),
		notNegative("Deadline", p.Deadline),
	}
	if p.Health != nil {
		errs = append(errs, notNegative("Health.StuckAfter", p.Health.StuckAfter))
	}
	if p.Deadline >= 0 && p.PreDrain >= p.deadline() {
		errs = append(errs, planError("PreDrain is %v, want less than Deadline, which is %v", p.PreDrain, p.deadline()))
	}
	for i, sig := range p.Signals {
		errs = append(errs, checkSignal(i, sig))
	}
	errs = append(errs, p.checkStarts()...)
	names := map[string]int{}
	for i, s := range p.Steps {
		where := fmt.Sprintf("Steps[%d]", i)
		if first, used := names[s.Name]; used && s.Name != "" {
			errs = append(errs, planError("%s.Name is %q, want one that Steps[%d] does not have", where, s.Name, first))
		} else {
			names[s.Name] = i
		}
		errs = append(errs, s.check(where))
	}
	return errors.Join(errs...)
}

func (p *Plan) checkStarts() (errs []error) {
	if p.Start != nil && len(p.Starts) > 0 {
		errs = append(errs, planError("Start and Starts are both set, want one of them"))
	}
	names := map[string]int{}
	for i, s := range p.Starts {
		first, used := names[s.Name]
		switch {
		case s.Name == "":
			errs = append(errs, planError("Starts[%d].Name is empty, want a name", i))
		case used:
			errs = append(errs, planError("Starts[%d].Name is %q, want one that Starts[%d] does not have", i, s.Name, first))
		default:
			names[s.Name] = i
		}
		if s.Start == nil {
			errs = append(errs, planError("Starts[%d].Start is nil, want a function", i))
		}
	}
	return errs
}

func (s *Step) check(where string) error {
	errs := []error{
		notNegative(where+".Quiet", s.Quiet),
		notNegative(where+".Timeout", s.Timeout),
		notNegative(where+".Drain", s.Drain),
		notNegative(where+".Deadline", s.Deadline),
	}
	if s.Name == "" {
		errs = append(errs, planError("%s.Name is empty, want a name", where))
	}
	switch {
	case s.mistake != "":
		errs = append(errs, planError("%s: %s", where, s.mistake))
	case s.Run == nil && s.Executor == nil:
		errs = append(errs, planError("%s: Run and Executor are nil, want one of them", where))
	case s.Run != nil && s.Executor != nil:
		errs = append(errs, planError("%s: Run and Executor are both set, want one of them", where))
	case s.Run != nil:
		errs = append(errs, s.checkRun(where))
	default:
		errs = append(errs, s.checkExecutor(where))
	}
	return errors.Join(errs...)
}

func (s *Step) checkRun(where string) error {
	if s.Quiet > 0 || s.Timeout > 0 || s.Drain > 0 {
		return planError("%s: Quiet is %v, Timeout %v and Drain %v, want 0 without Executor: Run has a Deadline", where, s.Quiet, s.Timeout, s.Drain)
	}
	return nil
}

func (s *Step) checkExecutor(where string) error {
	var errs []error
	if v := reflect.ValueOf(s.Executor); v.Kind() == reflect.Pointer && v.IsNil() {
		errs = append(errs, planError("%s.Executor is a nil %T, want an executor", where, s.Executor))
	}
	timeout := s.timeout()
	if s.Timeout >= 0 && s.Quiet > timeout {
		errs = append(errs, planError("%s.Timeout is %v, want at least Quiet, which is %v", where, timeout, s.Quiet))
	}
	if s.Deadline > 0 && s.Drain > 0 {
		errs = append(errs, planError("%s: Drain is %v and Deadline %v, want one of them", where, s.Drain, s.Deadline))
	}
	if s.Deadline > 0 && s.Deadline < timeout {
		errs = append(errs, planError("%s.Deadline is %v, want at least Timeout, which is %v", where, s.Deadline, timeout))
	}
	return errors.Join(errs...)
}

func checkSignal(i int, sig os.Signal) error {
	switch {
	case sig == nil:
		return planError("Signals[%d] is nil, want a signal", i)
	case !isCatchable(sig):
		return planError("Signals[%d] is %v, want one that can be caught: %s", i, sig, catchable)
	}
	return nil
}

func notNegative(field string, d time.Duration) error {
	if d < 0 {
		return planError("%s is %v, want 0 or more", field, d)
	}
	return nil
}

func planError(format string, args ...any) error {
	return fmt.Errorf("process: Plan: "+format, args...)
}

// checkCall returns the mistakes in a call of Run, including those that Validate cannot see.
func checkCall(ctx context.Context, p *Plan) error {
	if ctx == nil {
		return errors.New("process: Run: ctx is nil, want a context")
	}
	if err := p.Validate(); err != nil {
		return err
	}
	if !p.hasStart() && len(p.signals()) == 0 && ctx.Done() == nil {
		return planError("Start is nil, Signals is empty and ctx never ends, so nothing can begin the exit: want one of them")
	}
	return nil
}

// terminations returns the Termination of each step's executor, nil for the other steps.
// If the caller runs inside an executor of the plan, or inside its spawner, terminations
// returns core's error: Run would wait for itself (G18).
func terminations(steps []Step) ([]*core.Termination, error) {
	ended, end := context.WithCancel(context.Background())
	end() // Wait checks its caller before it checks the context
	terms := make([]*core.Termination, len(steps))
	for i, s := range steps {
		if s.Executor == nil {
			continue
		}
		term := s.Executor.Termination()
		if term == nil {
			return nil, planError("Steps[%d].Executor.Termination() is nil, want a termination", i)
		}
		terms[i] = term
		select {
		case <-term.Done():
			continue // Wait would return Err, which says nothing about the caller
		default:
		}
		_, err := term.Wait(ended)
		if errors.Is(err, core.ErrInEventLoop) || errors.Is(err, core.ErrStarting) {
			return nil, fmt.Errorf("process: Run: called from inside the executor of step %q: %w", s.Name, err)
		}
	}
	return terms, nil
}
