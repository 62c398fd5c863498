package bench

import (
	"testing"
	"time"

	"eventide/core"
)

// allocBatch is how many calls one run of an allocation count makes: few enough
// for the queue to reuse its memory.
const allocBatch = 64

// ExecuteAllocs counts the allocations of an Execute of an existing func, the
// task's run included, on an executor that keeps up. The count is exact: it shows one
// allocation per call, and even one per batch of 64.
func ExecuteAllocs(x Executor) (perCall float64, err error) {
	caught := make(chan struct{})
	task := func() {}
	last := func() { caught <- struct{}{} }
	allocs := testing.AllocsPerRun(100, func() {
		for range allocBatch - 1 {
			if e := x.Execute(task); e != nil {
				err = e
			}
		}
		if e := x.Execute(last); e != nil {
			err = e
			return
		}
		<-caught
	})
	return allocs / allocBatch, err
}

// ScheduleAllocs counts the allocations of a Schedule of an existing func and a
// Cancel of the timer, from outside of the loop.
func ScheduleAllocs(ex core.EventExecutor) (perPair float64, err error) {
	perPair = testing.AllocsPerRun(1000, func() {
		t, e := ex.Schedule(time.Hour, neverDue)
		if e != nil {
			err = e
			return
		}
		t.Cancel()
	})
	return perPair, err
}
