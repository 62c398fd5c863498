package core_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"eventide/core"
)

// Many timers of one period would all run in the same millisecond. With jitter each run is
// later by a random time, here of less than 2 ms.
func ExampleWithTimerJitter() {
	source := rand.NewPCG(1, 2) // rand.NewPCG(rand.Uint64(), rand.Uint64()) differs in each process
	ex, err := core.NewExecutor(core.WithTimerJitter(2*time.Millisecond, source))
	if err != nil {
		fmt.Println(err)
		return
	}
	began := ex.Now()
	var at []time.Duration // on the loop only
	for range 3 {
		timer, _ := ex.Schedule(10*time.Millisecond, func() { at = append(at, ex.Now().Sub(began)) })
		defer timer.Cancel()
	}
	done := make(chan struct{})
	_, _ = ex.Schedule(20*time.Millisecond, func() { close(done) })
	<-done
	fmt.Println("runs:", len(at), "never early:", at[0] >= 10*time.Millisecond)
	fmt.Println(ex.Close())
	// Output:
	// runs: 3 never early: true
	// <nil>
}

// A poller of your own embeds the default one, and here counts how often the loop sleeps.
func ExampleNewParkPoller() {
	poller := &counting{Poller: core.NewParkPoller(nil)}
	ex, err := core.NewExecutor(core.WithPoller(poller))
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	_, _ = ex.Schedule(time.Millisecond, func() { close(done) })
	<-done
	fmt.Println(ex.Close())
	fmt.Println("waits:", poller.waits > 0)
	// Output:
	// <nil>
	// waits: true
}

type counting struct {
	core.Poller
	waits int // on the loop only
}

func (c *counting) Wait(until core.Deadline) error {
	c.waits++
	return c.Poller.Wait(until)
}

// A poller says with a Readiness what it has found.
func ExampleNewReadiness() {
	r := core.NewReadiness(true, false, true, false)
	fmt.Println(r.Readable(), r.Writable(), r.HungUp(), r.Failed())
	// Output: true false true false
}

// A type that ends as an executor does can be a step of a process.Plan.
func ExampleNewTermination() {
	var workers sync.WaitGroup
	term, end, err := core.NewTermination(
		func() error { return nil },                 // Wait may block on every goroutine
		func() core.Report { return core.Report{} }, // the report before the end
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	workers.Go(func() {})
	go func() {
		workers.Wait()
		end(core.Report{Accepted: 1, Ran: 1}, nil)
	}()
	<-term.Done()
	fmt.Println(term.Report().Ran, term.Err())
	// Output: 1 <nil>
}
