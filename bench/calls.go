package bench

import (
	"context"
	"time"

	"eventide/core"
)

func submitCases() Group {
	channel := Case{Workload: "Submit", Impl: "channel", Against: "channel", Unit: "task", Open: openExecutor(NewChannel, submitToChannel)}
	ours := channel
	ours.Impl, ours.Open = "core", openExecutor(NewCore, submit)
	return Group{ours, channel}
}

// submit submits n functions and waits for the last result, which comes last.
func submit(x Executor, n int) (Slice, error) {
	ex := x.(core.EventExecutor)
	one := func() (int, error) { return 1, nil }
	var last *core.Future[int]
	began := time.Now()
	for range n {
		last = core.Submit(ex, one)
	}
	if _, err := last.Wait(context.Background()); err != nil {
		return Slice{}, err
	}
	return Slice{Ops: n, Elapsed: time.Since(began)}, nil
}

// submitToChannel does the same in the usual way: a closure that sends the result
// to a channel of its own.
func submitToChannel(x Executor, n int) (Slice, error) {
	one := func() (int, error) { return 1, nil }
	type result struct {
		value int
		err   error
	}
	var last chan result
	began := time.Now()
	for range n {
		answer := make(chan result, 1)
		last = answer
		err := x.Execute(func() {
			value, err := one()
			answer <- result{value, err}
		})
		if err != nil {
			return Slice{}, err
		}
	}
	if r := <-last; r.err != nil {
		return Slice{}, r.err
	}
	return Slice{Ops: n, Elapsed: time.Since(began)}, nil
}

func statsCases() Group {
	return Group{{Workload: "Stats", Impl: "core", Unit: "snapshot", Open: openExecutor(NewCore, snapshots)}}
}

func snapshots(x Executor, n int) (Slice, error) {
	ex := x.(statser)
	parks := parksOf(x)
	if err := x.Execute(func() {}); err != nil { // starts it
		return Slice{}, err
	}
	awaitPark(x, parks)
	began := time.Now()
	for range n {
		ex.Stats()
	}
	return Slice{Ops: n, Elapsed: time.Since(began)}, nil
}
