// Package cron is an example: it runs tasks of an executor at the times of a cron expression.
// It is a module of its own, so that eventide does not depend on the parser.
//
//	daily, err := cron.Schedule(ex, "CRON_TZ=Europe/Vienna 30 2 * * *", report)
//
// The times are those of the parser of github.com/robfig/cron/v3, in the zone that CRON_TZ
// names, or else time.Local. Where clocks change, a time that does not exist has no run, and
// one that occurs twice has two. Write expressions for a job that must run once each day in UTC.
package cron

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"eventide/core"

	"github.com/robfig/cron/v3"
)

// Job is a task that runs at the times of an expression. Its methods may be called from any
// goroutine.
type Job struct {
	ex       core.EventExecutor
	schedule cron.Schedule
	now      func() time.Time
	task     func()

	mu      sync.Mutex
	timer   *core.Timer // of the next run
	stopped bool
	err     error // why there is no next run
}

// ErrNoTime is the error of an expression such as that of 30 February.
var ErrNoTime = errors.New("cron: the expression has no time in the next five years")

// executor is an executor that tells its time: core.Executor, core.EventLoop and core.Pool.
type executor interface {
	core.EventExecutor
	Now() time.Time
}

// Schedule runs task on ex at each time of the expression, until Stop or until ex refuses
// timers. It has five fields, or is a descriptor such as @hourly. Runs do not overlap: a time
// that passes during a run is left out. A panic ends one run only.
func Schedule(ex executor, expression string, task func()) (*Job, error) {
	if task == nil {
		return nil, errors.New("cron: Schedule: task is nil, want a function")
	}
	schedule, err := cron.ParseStandard(expression)
	if err != nil {
		return nil, fmt.Errorf("cron: %w", err)
	}
	j := &Job{ex: ex, schedule: schedule, now: ex.Now, task: task}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.arm(); j.err != nil {
		return nil, j.err
	}
	return j, nil
}

// arm schedules the next run. It counts from the time of the clock, not from the last deadline,
// so that a clock that was set, or a computer that slept, leaves times out instead of making up
// for them. Requires mu.
func (j *Job) arm() {
	now := j.now()
	next := j.schedule.Next(now)
	if next.IsZero() {
		j.err = ErrNoTime
		return
	}
	timer, err := j.ex.Schedule(next.Sub(now), j.run)
	if err != nil {
		j.err = err
		return
	}
	j.timer = timer
}

// run is the body of each timer. The next run is scheduled even if the task panics.
func (j *Job) run() {
	defer func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if !j.stopped {
			j.arm()
		}
	}()
	j.task()
}

// Stop ends the job: no run begins after it has returned. A run that has begun continues.
func (j *Job) Stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stopped = true
	j.timer.Cancel()
}

// Next returns when the next run is due, or, during a run, when that run was. It returns false
// if there is none: the job was stopped, or the executor shuts down.
func (j *Job) Next() (time.Time, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stopped || j.err != nil || j.timer.Err() != nil {
		return time.Time{}, false
	}
	return j.timer.Deadline(), true
}
