package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/props"
	"eventide/props/faults"
)

// kinds are the kinds of lifecycle. Each runs one, and returns what it violates, or "".
var kinds = map[string]func(*rand.Rand, features) string{
	"programs":    runProgram,
	"executors":   runExecutor,
	"groups":      runGroup,
	"pools":       runPool,
	"connections": runConnections,
}

// runProgram runs a generated program on an event loop over epoll.
func runProgram(rng *rand.Rand, f features) string {
	p := f.swarm.Apply(props.Programs(f.profile).Example(int(rng.Uint32())))
	out, err := props.RunReal(p)
	if err != nil {
		return err.Error()
	}
	v, err := props.JudgeIn(props.Real, p, out)
	if err != nil {
		return err.Error()
	}
	if len(v.Violations) == 0 {
		return ""
	}
	first := v.Violations[0]
	path, err := props.Case{Guarantee: first.Guarantee, Text: first.Text, Program: p}.Save("out/cases")
	if err != nil {
		path = err.Error()
	}
	return fmt.Sprintf("%v [%s]", first, path)
}

func runExecutor(rng *rand.Rand, _ features) string {
	ex, err := core.NewExecutor()
	if err != nil {
		return err.Error()
	}
	return useAndEnd(rng, ex)
}

func runGroup(rng *rand.Rand, _ features) string {
	group, err := newGroup(rng, 1+rng.IntN(4))
	if err != nil {
		return unlessInjected(err)
	}
	return useAndEnd(rng, group)
}

// newGroup makes a group of event loops over one of the two pollers of core.
func newGroup(rng *rand.Rand, n int) (*core.Group, error) {
	if rng.IntN(2) == 0 {
		return core.NewGroup(n, core.WithBlockingEpoll())
	}
	return core.NewGroup(n)
}

// unlessInjected returns the text of an error of a constructor, or "" if the kernel was made to
// refuse.
func unlessInjected(err error) string {
	if faults.Explains(err) {
		return ""
	}
	return err.Error()
}

func runPool(rng *rand.Rand, _ features) string {
	pool, err := core.NewPool(1 + rng.IntN(4))
	if err != nil {
		return err.Error()
	}
	return useAndEnd(rng, pool)
}

// patience turns a hang into a finding. It is no measure of speed.
const patience = 2 * time.Minute

// executor is what useAndEnd needs of a subject.
type executor interface {
	Execute(task func()) error
	ShutdownGracefully(quiet, timeout time.Duration) (*core.Termination, error)
	Shutdown() *core.Termination
}

// useAndEnd has producers submit tasks while the executor shuts down, and wants each
// accepted task, and no refused one, to have run once before Done closes (G3).
func useAndEnd(rng *rand.Rand, ex executor) string {
	const producers = 4
	calls := 1 + rng.IntN(200)
	ran := make([]atomic.Int32, producers*calls)
	accepted := make([]bool, producers*calls)
	finished := make(chan struct{}, producers)
	for p := range producers {
		go func() {
			defer func() { finished <- struct{}{} }()
			for i := p * calls; i < (p+1)*calls; i++ {
				accepted[i] = ex.Execute(func() { ran[i].Add(1) }) == nil
			}
		}()
	}
	time.Sleep(time.Duration(rng.IntN(2000)) * time.Microsecond)
	termination := end(rng, ex)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	select {
	case <-termination.Done():
	case <-ctx.Done():
		return "G15: Done was not closed"
	}
	for range producers {
		<-finished
	}
	for i := range ran {
		want := int32(0)
		if accepted[i] {
			want = 1
		}
		if got := ran[i].Load(); got != want {
			return fmt.Sprintf("G3: task %d of %d, accepted: %v, ran %d times", i, len(ran), accepted[i], got)
		}
	}
	return ""
}

func end(rng *rand.Rand, ex executor) *core.Termination {
	if rng.IntN(3) == 0 {
		return ex.Shutdown()
	}
	quiet := time.Duration(rng.IntN(2)) * time.Millisecond
	termination, err := ex.ShutdownGracefully(quiet, quiet+time.Second)
	if err != nil {
		panic(fmt.Sprintf("soak: ShutdownGracefully: %v", err)) // the arguments are valid
	}
	return termination
}
