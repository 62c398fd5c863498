package bench

import (
	"fmt"
	"time"
)

func executeCases(producers int) Group {
	var g Group
	for _, x := range withBare() {
		g = append(g, Case{
			Workload: fmt.Sprintf("Execute/producers=%d", producers),
			Impl:     x.impl, Against: "channel", Unit: "task",
			Open: openExecutor(x.open, func(ex Executor, n int) (Slice, error) { return Execute(ex, producers, n) }),
		})
	}
	return g
}

// Execute lets producers submit n tasks together, and stops the clock when all
// have run. Only tasks use the counter, and tasks never overlap (G2).
func Execute(x Executor, producers, n int) (Slice, error) {
	share := max(1, n/producers)
	total, ran := share*producers, 0
	done := make(chan struct{})
	task := func() {
		if ran++; ran == total {
			close(done)
		}
	}
	start, refused := make(chan struct{}), make(chan error, producers)
	for range producers {
		go func() {
			<-start
			for range share {
				if err := x.Execute(task); err != nil {
					refused <- err
					return
				}
			}
		}()
	}
	settle()
	began := time.Now()
	close(start)
	select {
	case <-done:
		return Slice{Ops: total, Elapsed: time.Since(began)}, nil
	case err := <-refused:
		return Slice{}, err
	}
}

func inLoopCases() Group {
	var g Group
	for _, x := range withBare() {
		g = append(g, Case{
			Workload: "ExecuteInLoop", Impl: x.impl, Against: "channel", Unit: "task",
			Open: openExecutor(x.open, ExecuteInLoop),
		})
	}
	return g
}

// inLoopBatch is the number of tasks that one body submits: few enough for the channel,
// whose receiver would wait for itself if the buffer were full.
const inLoopBatch = 64

// ExecuteInLoop has a task submit a batch of others and then itself, again and
// again.
func ExecuteInLoop(x Executor, n int) (Slice, error) {
	turns, done := max(1, n/(inLoopBatch+1)), make(chan error, 1)
	left := turns
	nothing := func() {}
	var turn func()
	turn = func() {
		if left--; left < 0 {
			done <- nil
			return
		}
		for range inLoopBatch {
			if err := x.Execute(nothing); err != nil {
				done <- err
				return
			}
		}
		if err := x.Execute(turn); err != nil {
			done <- err
		}
	}
	began := time.Now()
	if err := x.Execute(turn); err != nil {
		return Slice{}, err
	}
	if err := <-done; err != nil {
		return Slice{}, err
	}
	return Slice{Ops: turns * (inLoopBatch + 1), Elapsed: time.Since(began)}, nil
}

func lazyCases() Group {
	channel := Case{
		Workload: "ExecuteLazy", Impl: "channel", Against: "channel", Unit: "task",
		Open: openExecutor(NewChannel, func(ex Executor, n int) (Slice, error) { return Execute(ex, 1, n) }),
	}
	lazy := channel
	lazy.Impl, lazy.Open = "core", openExecutor(NewCore, executeLazy)
	return Group{lazy, channel}
}

// executeLazy submits n-1 tasks that do not wake the loop, and one that does.
func executeLazy(x Executor, n int) (Slice, error) {
	ex := x.(interface{ ExecuteLazy(func()) error })
	done := make(chan struct{})
	nothing := func() {}
	began := time.Now()
	for range n - 1 {
		if err := ex.ExecuteLazy(nothing); err != nil {
			return Slice{}, err
		}
	}
	if err := x.Execute(func() { close(done) }); err != nil {
		return Slice{}, err
	}
	<-done
	return Slice{Ops: max(1, n), Elapsed: time.Since(began)}, nil
}
