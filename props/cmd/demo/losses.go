package main

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"eventide/core"
)

const (
	shutdowns  = 100
	submitters = 8
	enough     = 200 // tasks that run before the shutdown
)

// pool is the usual executor made of a channel and a goroutine. Its worker takes tasks until the
// pool is stopped.
type pool struct {
	tasks chan func()
	stop  chan struct{}
	done  chan struct{}
}

var errStopped = errors.New("the pool is stopped")

func newPool() *pool {
	p := &pool{tasks: make(chan func(), 64), stop: make(chan struct{}), done: make(chan struct{})}
	go p.work()
	return p
}

func (p *pool) work() {
	defer close(p.done)
	for {
		select {
		case task := <-p.tasks:
			task()
		case <-p.stop:
			return
		}
	}
}

// Execute returns nil when the task is in the channel.
func (p *pool) Execute(task func()) error {
	select {
	case p.tasks <- task:
		return nil
	case <-p.stop:
		return errStopped
	}
}

// count has the numbers of accepted tasks and of those that ran.
type count struct{ accepted, ran int64 }

func (c count) lost() int64 { return c.accepted - c.ran }

// underLoad submits from several goroutines until each is refused, and shuts down meanwhile.
// shutdown returns when the executor has ended.
func underLoad(execute func(func()) error, shutdown func()) count {
	var accepted, ran atomic.Int64
	begun := make(chan struct{})
	task := func() {
		if ran.Add(1) == enough {
			close(begun)
		}
	}
	var all sync.WaitGroup
	for range submitters {
		all.Go(func() {
			for execute(task) == nil {
				accepted.Add(1)
			}
		})
	}
	<-begun
	shutdown()
	all.Wait()
	return count{accepted.Load(), ran.Load()}
}

// losses is the first part of the demonstration: the lost tasks of the pool and of core.
func losses(string) ([]string, error) {
	var channel, executor count
	for range shutdowns {
		p := newPool()
		channel.add(underLoad(p.Execute, func() { close(p.stop); <-p.done }))
		ex, err := core.NewExecutor()
		if err != nil {
			return nil, err
		}
		executor.add(underLoad(ex.Execute, func() { <-ex.Shutdown().Done() }))
	}
	lines := []string{
		fmt.Sprintf("%d goroutines submit until they are refused; %d shutdowns of each", submitters, shutdowns),
		fmt.Sprintf("a channel and a worker  accepted %8d  ran %8d  %sLOST %d%s", channel.accepted, channel.ran, strong, channel.lost(), strong),
		fmt.Sprintf("core.Executor           accepted %8d  ran %8d  lost %d", executor.accepted, executor.ran, executor.lost()),
	}
	return lines, judgeLosses(channel, executor)
}

func (c *count) add(other count) {
	c.accepted += other.accepted
	c.ran += other.ran
}

// judgeLosses is an error if the counts do not show what the part is for.
func judgeLosses(channel, executor count) error {
	switch {
	case executor.lost() != 0:
		return fmt.Errorf("core lost %d of %d accepted tasks", executor.lost(), executor.accepted)
	case channel.lost() <= 0:
		return fmt.Errorf("the channel lost none of %d accepted tasks", channel.accepted)
	}
	return nil
}
