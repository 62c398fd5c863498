package bench

import (
	"fmt"
	"runtime"
	"time"

	"eventide/core"
)

// unbuffered names the rival of round trips and shutdowns: the simplest way in Go to
// get an answer from a goroutine.
const unbuffered = "unbuffered"

func roundTripCases() Group {
	plain := Case{Workload: "RoundTrip", Impl: unbuffered, Against: unbuffered, Unit: "trip", Open: openEcho}
	g := Group{plain}
	for _, x := range withLoops() {
		g = append(g, Case{
			Workload: "RoundTrip", Impl: x.impl, Against: unbuffered, Unit: "trip",
			Open: openExecutor(x.open, roundTrips),
		})
	}
	return g
}

// busyTripCases are round trips one right after the other: a loop that looks for work
// before it falls asleep has no time to do so.
func busyTripCases() Group {
	g := Group{{Workload: "RoundTripBusy", Impl: unbuffered, Against: unbuffered, Unit: "trip", Open: func() (Runner, error) {
		e, err := openEcho()
		return busyEcho{e.(echo)}, err
	}}}
	for _, x := range withLoops() {
		g = append(g, Case{
			Workload: "RoundTripBusy", Impl: x.impl, Against: unbuffered, Unit: "trip",
			Open: openExecutor(x.open, busyTrips),
		})
	}
	return g
}

func busyTrips(x Executor, n int) (Slice, error) {
	answer := make(chan struct{})
	task := func() { answer <- struct{}{} }
	began := time.Now()
	for range n {
		if err := x.Execute(task); err != nil {
			return Slice{}, err
		}
		<-answer
	}
	return Slice{Ops: n, Elapsed: time.Since(began)}, nil
}

type busyEcho struct{ echo }

// Run measures n trips without a pause.
func (e busyEcho) Run(n int) (Slice, error) {
	began := time.Now()
	for range n {
		e.ask <- struct{}{}
		<-e.answer
	}
	return Slice{Ops: n, Elapsed: time.Since(began)}, nil
}

// statser is an executor that can say whether it is parked.
type statser interface{ Stats() core.Stats }

// mostVoid is how many more trips than measured ones may be void: now and then
// something else on the machine keeps the loop awake.
const mostVoid = 100

// roundTrips measures n trips to x, which is idle before each. If x has Stats, this is
// verified: the loop must have parked once per trip. Otherwise the trip is void and not
// measured.
func roundTrips(x Executor, n int) (Slice, error) {
	samples, void := newLatencies(), 0
	answer := make(chan struct{})
	task := func() { answer <- struct{}{} }
	parks := parksOf(x)
	if err := x.Execute(task); err != nil { // starts the loop, if it starts with the first task
		return Slice{}, err
	}
	<-answer
	parks = awaitPark(x, parks)
	for samples.count() < n && void < n+mostVoid {
		settle()
		began := time.Now()
		if err := x.Execute(task); err != nil {
			return Slice{}, err
		}
		<-answer
		trip := time.Since(began)
		was := parks
		parks = awaitPark(x, was)
		if _, counts := x.(statser); counts && parks != was+1 {
			void++
			continue
		}
		if err := samples.add(trip); err != nil {
			return Slice{}, err
		}
	}
	if samples.count() < n {
		return Slice{}, fmt.Errorf("bench: %d of %d round trips were void: the loop was not parked", void, void+samples.count())
	}
	return samples.slice(void), nil
}

// parksOf returns how often the loop has fallen asleep, or 0 if x has no Stats.
func parksOf(x Executor) int64 {
	if s, ok := x.(statser); ok {
		return s.Stats().Parks
	}
	return 0
}

// awaitPark returns when the loop has fallen asleep more than n times, and how
// often it has. For an executor without Stats it only yields for a while, and returns
// 0.
func awaitPark(x Executor, n int64) int64 {
	if _, counts := x.(statser); !counts {
		settle()
		return 0
	}
	for {
		if parks := parksOf(x); parks > n {
			return parks
		}
		runtime.Gosched()
	}
}

// echo is a goroutine that answers.
type echo struct{ ask, answer chan struct{} }

func openEcho() (Runner, error) {
	e := echo{make(chan struct{}), make(chan struct{})}
	go func() {
		defer close(e.answer)
		for range e.ask {
			e.answer <- struct{}{}
		}
	}()
	return e, nil
}

// Run measures n trips, with the same pause before each as an executor's have.
func (e echo) Run(n int) (Slice, error) {
	samples := newLatencies()
	for range n {
		settle()
		settle()
		began := time.Now()
		e.ask <- struct{}{}
		<-e.answer
		if err := samples.add(time.Since(began)); err != nil {
			return Slice{}, err
		}
	}
	return samples.slice(0), nil
}

func (e echo) Close() error {
	close(e.ask)
	<-e.answer
	return nil
}
