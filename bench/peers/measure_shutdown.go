package peers

import (
	"sync"
	"sync/atomic"
	"time"
)

// measureShutdowns measures n times how long Close of an idle executor takes.
func measureShutdowns(im impl, r Request) (Answer, error) {
	n, err := r.Int("n")
	if err != nil {
		return Answer{}, err
	}
	if im.slowStop {
		n = 1
	}
	values := make([]int64, 0, n)
	for range n {
		x, err := im.open()
		if err != nil {
			return Answer{}, err
		}
		if err := startOf(x); err != nil {
			return Answer{}, err
		}
		linger(200 * time.Microsecond)
		began := time.Now()
		err = x.Close()
		values = append(values, int64(time.Since(began)))
		if err != nil {
			return Answer{}, err
		}
	}
	return Answer{Samples: collect(values)}, nil
}

// measureOvershoot lets n idle executors end, a millisecond apart, and reports by how
// much each took longer than its quiet period; shorter ones are counted, and enter
// as what they are.
func measureOvershoot(im impl, r Request) (Answer, error) {
	quiet, err := r.Int("quiet")
	if err != nil {
		return Answer{}, err
	}
	n, err := r.Int("n")
	if err != nil {
		return Answer{}, err
	}
	values := make([]int64, n)
	var ended sync.WaitGroup
	for i := range n {
		stop, err := im.quiet(time.Duration(quiet))
		if err != nil {
			return Answer{}, err
		}
		ended.Go(func() {
			began := time.Now()
			stop()
			values[i] = int64(time.Since(began)) - int64(quiet)
		})
		time.Sleep(time.Millisecond)
	}
	ended.Wait()
	a := Answer{Samples: collect(values)}
	for _, v := range values {
		if v < 0 {
			a.Short++
		}
	}
	return a, nil
}

// measureBacklog queues tasks behind one that is held, lets that go, and measures
// until the executor has ended.
func measureBacklog(im impl, r Request) (Answer, error) {
	tasks, err := r.Int("tasks")
	if err != nil {
		return Answer{}, err
	}
	if why, ok := im.lacks["backlog"]; ok && tasks > 0 {
		return Answer{None: why}, nil
	}
	x, err := im.open()
	if err != nil {
		return Answer{}, err
	}
	hold, held := make(chan struct{}), make(chan struct{})
	if err := x.Execute(func() { close(held); <-hold }); err != nil {
		return Answer{}, err
	}
	<-held
	var ran atomic.Int64
	task := func() { ran.Add(1) }
	for range tasks {
		if err := x.Execute(task); err != nil {
			return Answer{}, err
		}
	}
	began := time.Now()
	close(hold)
	if err := x.Close(); err != nil {
		return Answer{}, err
	}
	return Answer{Ops: 1, Elapsed: int64(time.Since(began)), Lost: tasks - int(ran.Load())}, nil
}
