package netty

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
)

// RunCore plays p on core, in virtual time. t may be new(testing.T) outside of a
// test. A run that hangs or panics is an error.
func RunCore(t *testing.T, p *Program) (trace Trace, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("netty: program %d on core: %v", p.ID, v)
		}
	}()
	synctest.Test(t, func(*testing.T) { trace, err = playOnCore(p) })
	return trace, err
}

// errNoThread is what the spawner of a program with failing starts says.
var errNoThread = errors.New("netty: planted: no goroutine")

// player plays a program on an executor of core.
type player struct {
	ex *core.Executor

	// publish is held from a submission until what it returned is in the maps: a body
	// that speaks of it may be faster than the caller.
	publish sync.Mutex

	mu      sync.Mutex
	trace   Trace
	ops     map[int]byte
	timers  map[int]*core.Timer
	futures map[int]*core.Future[struct{}]
	removes map[int]func() bool

	hold chan struct{} // of the goroutine outside
}

// patience is how long a program may take to end after its last step.
const patience = 5 * time.Second

func playOnCore(p *Program) (Trace, error) {
	fails := p.Fail
	ex, err := core.NewExecutor(core.WithSpawner(func(loop func()) error {
		if fails > 0 {
			fails--
			return errNoThread
		}
		go func() {
			// Until the call that starts the loop has returned, or waits for it. A lazy task
			// that comes behind the loop's first look waits for the next wake-up.
			synctest.Wait()
			loop()
		}()
		return nil
	}))
	if err != nil {
		return Trace{}, err
	}
	pl := &player{
		ex: ex, ops: map[int]byte{}, timers: map[int]*core.Timer{},
		futures: map[int]*core.Future[struct{}]{}, removes: map[int]func() bool{},
	}
	at, held := time.Now(), false
	for _, s := range p.Steps {
		time.Sleep(time.Until(at))
		if s.Op == opPause || s.Op == opAwait {
			at = at.Add(ms(s.A))
		}
		if s.Op == opRelease {
			held = false
		}
		if !held {
			at = at.Add(gap * time.Millisecond)
		}
		if s.Op == opHold {
			held = true
		}
		pl.step(s, false)
	}
	select {
	case <-ex.Termination().Done():
	case <-time.After(patience):
		return pl.trace, fmt.Errorf("netty: program %d: core has not terminated %v after the last step: %v", p.ID, patience, pl.trace)
	}
	time.Sleep(gap * time.Millisecond) // for what wrongly runs later
	return pl.ending(), nil
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// ending completes the trace.
func (pl *player) ending() Trace {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	w := &world{trace: pl.trace}
	at := map[int]status{}
	for label, t := range pl.timers {
		at[label] = statusOf(t.Done(), t.Err())
	}
	for label, f := range pl.futures {
		at[label] = pending
		if isClosed(f.Done()) {
			_, err := f.Wait(context.Background())
			at[label] = statusOf(f.Done(), err)
		}
	}
	w.ending(at, pl.ops, stateNumber(pl.ex.State()))
	return w.trace
}

func statusOf(done <-chan struct{}, err error) status {
	switch {
	case !isClosed(done):
		return pending
	case err == nil:
		return succeeded
	case errors.Is(err, core.ErrCancelled):
		return cancelled
	default:
		return failed
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func stateNumber(s core.State) int { return max(0, int(s)-int(core.StateStarted)) }

func (pl *player) answer(inLoop bool, label int, text string) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if inLoop {
		pl.trace.Loop = append(pl.trace.Loop, token(label, text))
	} else {
		pl.trace.Outer = append(pl.trace.Outer, token(label, text))
	}
}

func (pl *player) note(text string) {
	pl.mu.Lock()
	pl.trace.Loop = append(pl.trace.Loop, text)
	pl.mu.Unlock()
}

// body is the function that a step submits.
func (pl *player) body(s *Step) func() {
	return func() {
		mark := ""
		if !pl.ex.InEventLoop() {
			mark = "?"
		}
		pl.note(begins(s.Label) + mark)
		for _, next := range s.Body {
			pl.step(next, true)
		}
	}
}

// accepted is the answer that an error stands for.
func accepted(err error) string {
	switch {
	case err == nil:
		return "+"
	case errors.Is(err, core.ErrRejected) || errors.Is(err, errNoThread):
		return "-"
	default:
		return "!"
	}
}

func (pl *player) step(s *Step, inLoop bool) {
	ex := pl.ex
	switch s.Op {
	case opExecute:
		pl.answer(inLoop, s.Label, accepted(ex.Execute(pl.body(s))))
	case opLazy:
		pl.answer(inLoop, s.Label, accepted(ex.ExecuteLazy(pl.body(s))))
	case opTail:
		pl.answer(inLoop, s.Label, accepted(ex.ExecuteAfterIteration(pl.body(s))))
	case opSubmit, opSchedule, opRate, opDelay, opHook:
		pl.publish.Lock()
		pl.submit(s, inLoop)
		pl.publish.Unlock()
	case opGraceful:
		_, err := ex.ShutdownGracefully(ms(s.A), ms(s.B))
		pl.answer(inLoop, s.Label, accepted(err))
	case opShutdown:
		ex.Shutdown()
		pl.answer(inLoop, s.Label, "+")
	case opQuery:
		pl.answer(inLoop, s.Label, fmt.Sprintf("=%d", stateNumber(ex.State())))
	case opHold:
		hold := make(chan struct{})
		pl.hold = hold
		pl.answer(inLoop, s.Label, accepted(ex.Execute(func() { <-hold })))
	case opRelease:
		close(pl.hold)
	case opPause:
		if inLoop {
			time.Sleep(ms(s.A))
		}
	case opThrow:
		panic("planted")
	default:
		pl.more(s, inLoop)
	}
}

// more are the steps that speak of an earlier one, or wait.
func (pl *player) more(s *Step, inLoop bool) {
	pl.publish.Lock()
	pl.mu.Lock()
	timer, future, remove := pl.timers[s.A], pl.futures[s.A], pl.removes[s.A]
	pl.mu.Unlock()
	pl.publish.Unlock()
	switch s.Op {
	case opRemove:
		if remove != nil {
			remove()
		}
	case opCancel:
		switch {
		case timer != nil:
			pl.answer(inLoop, s.Label, sign(timer.Cancel()))
		case future != nil:
			pl.answer(inLoop, s.Label, sign(future.Cancel()))
		}
	case opListen:
		if future != nil {
			future.OnDone(func(struct{}, error) { pl.note(listener(s.Label)) })
		}
	case opAwait, opWait:
		ctx, cancel := context.WithTimeout(context.Background(), ms(s.A))
		defer cancel()
		began := time.Now()
		_, err := pl.ex.Termination().Wait(ctx)
		text := "-"
		switch {
		case errors.Is(err, core.ErrInEventLoop):
			text = "!"
		case isClosed(pl.ex.Termination().Done()) && time.Since(began) >= ms(s.A) && s.A > 0:
			text = "~"
		case isClosed(pl.ex.Termination().Done()):
			text = "+"
		}
		pl.answer(inLoop, s.Label, text)
	default:
		panic("unknown step " + strings.TrimSpace(s.String()))
	}
}

// submit makes the calls that return something, and keeps it.
func (pl *player) submit(s *Step, inLoop bool) {
	var timer *core.Timer
	var err error
	body := pl.body(s)
	switch s.Op {
	case opSubmit:
		err = pl.submitFunc(s, body)
	case opHook:
		var remove func() bool
		remove, err = pl.ex.AddShutdownHook(body)
		pl.mu.Lock()
		pl.removes[s.Label] = remove
		pl.mu.Unlock()
	case opSchedule:
		timer, err = pl.ex.Schedule(ms(s.A), body)
	case opRate:
		timer, err = pl.ex.ScheduleAtFixedRate(ms(s.A), ms(s.B), body)
	case opDelay:
		timer, err = pl.ex.ScheduleWithFixedDelay(ms(s.A), ms(s.B), body)
	}
	if timer != nil {
		pl.mu.Lock()
		pl.timers[s.Label], pl.ops[s.Label] = timer, s.Op
		pl.mu.Unlock()
	}
	pl.answer(inLoop, s.Label, accepted(err))
}

// submitFunc returns the refusal, if it is one.
func (pl *player) submitFunc(s *Step, body func()) error {
	f := core.Submit(pl.ex, func() (struct{}, error) { body(); return struct{}{}, nil })
	if isClosed(f.Done()) {
		if _, err := f.Wait(context.Background()); accepted(err) == "-" {
			return err
		}
	}
	pl.mu.Lock()
	pl.futures[s.Label], pl.ops[s.Label] = f, s.Op
	pl.mu.Unlock()
	return nil
}
