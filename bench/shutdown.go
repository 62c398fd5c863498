package bench

import (
	"slices"
	"time"

	"eventide/core"
)

func shutdownCases() Group {
	g := Group{{Workload: "ShutdownIdle", Impl: unbuffered, Against: unbuffered, Unit: "stop", Open: openEcho}}
	for _, x := range slices.Concat(executors, bareLoops) {
		run := runFunc(func(n int) (Slice, error) { return shutdowns(x.open, n) })
		g = append(g, Case{Workload: "ShutdownIdle", Impl: x.impl, Against: unbuffered, Unit: "stop", Open: run.open})
	}
	return g
}

// shutdowns measures n times how long Close of an idle executor takes. Close of core is
// a graceful shutdown without a quiet period.
func shutdowns(open func() (Executor, error), n int) (Slice, error) {
	samples := newLatencies()
	for range n {
		x, err := open()
		if err != nil {
			return Slice{}, err
		}
		answer := make(chan struct{})
		if err := x.Execute(func() { close(answer) }); err != nil {
			return Slice{}, err
		}
		<-answer
		awaitPark(x, 0)
		settle()
		began := time.Now()
		err = x.Close()
		if err := samples.add(time.Since(began)); err != nil {
			return Slice{}, err
		}
		if err != nil {
			return Slice{}, err
		}
	}
	return samples.slice(0), nil
}

const (
	// quiet is the quiet period whose overshoot is measured. It is several times the
	// millisecond in which the runtime's poller counts: with less, a period of half its
	// length would not be noticed.
	quiet = 3 * time.Millisecond

	// quietOps gives a percentile 99 that is not simply the maximum.
	quietOps = 100
)

func quietPeriodCases() Group {
	timer := Case{
		Workload: "QuietPeriod/quiet=" + quiet.String(), Impl: "timer", Against: "timer", Unit: "period",
		MinOps: quietOps, Open: runFunc(func(n int) (Slice, error) { return overshoots(n, waitTimer) }).open,
	}
	ours := timer
	ours.Impl = "core"
	ours.Open = runFunc(func(n int) (Slice, error) { return overshoots(n, waitQuietPeriod) }).open
	return Group{ours, timer}
}

// overshoots measures n times by how much wait takes longer than quiet. A wait that
// takes less counts as short, with an overshoot of 0: a quiet period is a promise
// (G10).
func overshoots(n int, wait func() (time.Duration, error)) (Slice, error) {
	samples, short := newLatencies(), 0
	for range n {
		took, err := wait()
		if err != nil {
			return Slice{}, err
		}
		if took < quiet {
			short++
		}
		if err := samples.add(max(0, took-quiet)); err != nil {
			return Slice{}, err
		}
	}
	s := samples.slice(0)
	s.Short = short
	return s, nil
}

func waitQuietPeriod() (time.Duration, error) {
	ex, err := core.NewExecutor()
	if err != nil {
		return 0, err
	}
	answer := make(chan struct{})
	if err := ex.Execute(func() { close(answer) }); err != nil {
		return 0, err
	}
	<-answer
	began := time.Now()
	t, err := ex.ShutdownGracefully(quiet, time.Hour)
	if err != nil {
		return 0, err
	}
	<-t.Done()
	return time.Since(began), t.Err()
}

func waitTimer() (time.Duration, error) {
	began := time.Now()
	timer := time.NewTimer(quiet)
	<-timer.C
	return time.Since(began), nil
}
