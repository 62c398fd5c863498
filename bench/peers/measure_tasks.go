package peers

import (
	"fmt"
	"runtime"
	"time"
)

// measurements are what the Go driver can be asked for.
var measurements = map[string]func(impl, Request) (Answer, error){
	"execute":        measureExecute,
	"inloop":         measureInLoop,
	"roundtrip":      measureRoundTrips,
	"peak":           measurePeak,
	"latency":        measureLatency,
	"schedulecancel": measureScheduleCancel,
	"lateness":       measureLateness,
	"shutdown":       measureShutdowns,
	"overshoot":      measureOvershoot,
	"backlog":        measureBacklog,
}

// on opens an executor, measures, and closes it, or keeps it.
func on(im impl, measure func(x executor) (Answer, error)) (Answer, error) {
	if im.slowStop && *im.kept != nil {
		return measure(*im.kept)
	}
	x, err := im.open()
	if err != nil {
		return Answer{}, err
	}
	if err := startOf(x); err != nil {
		return Answer{}, err
	}
	if im.slowStop {
		*im.kept = x
		return measure(x)
	}
	a, err := measure(x)
	if closeErr := x.Close(); err == nil {
		err = closeErr
	}
	return a, err
}

// measureExecute lets producers submit n tasks together. The counter is touched by
// tasks alone, which never overlap.
func measureExecute(im impl, r Request) (Answer, error) {
	producers, err := r.Int("producers")
	if err != nil {
		return Answer{}, err
	}
	n, err := r.Int("n")
	if err != nil {
		return Answer{}, err
	}
	return on(im, func(x executor) (Answer, error) {
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
			return Answer{Ops: total, Elapsed: int64(time.Since(began))}, nil
		case err := <-refused:
			return Answer{}, err
		}
	})
}

// settle lets goroutines that have nothing to do fall asleep.
func settle() {
	for range 32 {
		runtime.Gosched()
	}
}

// inLoopBatch is the number of tasks that one task submits: little enough for the
// channel, whose receiver would wait for itself if the buffer were full.
const inLoopBatch = 64

func measureInLoop(im impl, r Request) (Answer, error) {
	if why, ok := im.lacks["inloop"]; ok {
		return Answer{None: why}, nil
	}
	n, err := r.Int("n")
	if err != nil {
		return Answer{}, err
	}
	return on(im, func(x executor) (Answer, error) {
		turns := max(1, n/(inLoopBatch+1))
		left, done := turns, make(chan error, 1)
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
			return Answer{}, err
		}
		if err := <-done; err != nil {
			return Answer{}, err
		}
		return Answer{Ops: turns * (inLoopBatch + 1), Elapsed: int64(time.Since(began))}, nil
	})
}

// measureRoundTrips measures n trips, with a pause before each in which the caller
// is busy but leaves the processor to others. A trip to an executor that can tell
// whether it parks, and did not do so exactly once since the last, is void.
func measureRoundTrips(im impl, r Request) (Answer, error) {
	pause, err := r.Int("pause")
	if err != nil {
		return Answer{}, err
	}
	n, err := r.Int("n")
	if err != nil {
		return Answer{}, err
	}
	return on(im, func(x executor) (Answer, error) {
		p, tells := x.(parker)
		verify := tells && pause > 0
		answer := make(chan struct{})
		task := func() { answer <- struct{}{} }
		var values []int64
		void, parks := 0, int64(0)
		for i := range n + 1 {
			linger(time.Duration(pause))
			if verify {
				was := parks
				parks = awaitPark(p, parks)
				if i > 0 && parks != was+1 {
					void++
					values = values[:len(values)-1]
				}
			}
			if i == n {
				break
			}
			began := time.Now()
			if err := x.Execute(task); err != nil {
				return Answer{}, err
			}
			<-answer
			values = append(values, int64(time.Since(began)))
		}
		if len(values) == 0 {
			return Answer{}, fmt.Errorf("all %d round trips were void: the loop was not parked", n)
		}
		return Answer{Samples: collect(values), Void: void}, nil
	})
}

// linger yields until the time has passed.
func linger(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
		runtime.Gosched()
	}
}

// awaitPark returns when the loop has fallen asleep more than n times, and how often
// it has.
func awaitPark(p parker, n int64) int64 {
	for {
		if parks := p.Parks(); parks > n {
			return parks
		}
		runtime.Gosched()
	}
}

// measurePeak is execute by one producer with tasks that read the clock, as those of
// latency do.
func measurePeak(im impl, r Request) (Answer, error) {
	n, err := r.Int("n")
	if err != nil {
		return Answer{}, err
	}
	return on(im, func(x executor) (Answer, error) {
		s := newStamps(n)
		began := time.Now()
		if err := s.submit(x, 0); err != nil {
			return Answer{}, err
		}
		<-s.done
		return Answer{Ops: n, Elapsed: int64(time.Since(began))}, nil
	})
}

func measureLatency(im impl, r Request) (Answer, error) {
	rate, err := r.Int("rate")
	if err != nil {
		return Answer{}, err
	}
	n, err := r.Int("n")
	if err != nil {
		return Answer{}, err
	}
	return on(im, func(x executor) (Answer, error) {
		s := newStamps(n)
		if err := s.submit(x, rate); err != nil {
			return Answer{}, err
		}
		<-s.done
		waits := make([]int64, n)
		for i := range waits {
			waits[i] = s.begun[i] - s.submitted[i]
		}
		return Answer{Samples: collect(waits)}, nil
	})
}

// stamps are the times of n tasks. The tasks of one producer begin in order, so one
// func that counts serves for all.
type stamps struct {
	submitted, begun []int64 // nanoseconds since base
	next             int     // of begun; touched by tasks alone
	base             time.Time
	done             chan struct{}
}

func newStamps(n int) *stamps {
	return &stamps{submitted: make([]int64, n), begun: make([]int64, n), base: time.Now(), done: make(chan struct{})}
}

// submit submits a task per stamp: at rate per second, or with 0 as fast as it can.
// One that is behind catches up without a pause, as callers who come by themselves
// would.
func (s *stamps) submit(x executor, rate int) error {
	task := func() {
		s.begun[s.next] = int64(time.Since(s.base))
		if s.next++; s.next == len(s.begun) {
			close(s.done)
		}
	}
	began := int64(time.Since(s.base))
	for i := range s.submitted {
		now := int64(time.Since(s.base))
		if rate > 0 {
			for due := began + int64(i)*int64(time.Second)/int64(rate); now < due; {
				now = int64(time.Since(s.base))
			}
		}
		s.submitted[i] = now
		if err := x.Execute(task); err != nil {
			return err
		}
	}
	return nil
}
