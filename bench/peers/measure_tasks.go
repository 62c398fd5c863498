package peers

import (
	"fmt"
	"runtime"
	"time"

	"eventide/bench"
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
		s, err := bench.Execute(x, producers, n)
		return Answer{Ops: s.Ops, Elapsed: int64(s.Elapsed)}, err
	})
}

func measureInLoop(im impl, r Request) (Answer, error) {
	if why, ok := im.lacks["inloop"]; ok {
		return Answer{None: why}, nil
	}
	n, err := r.Int("n")
	if err != nil {
		return Answer{}, err
	}
	return on(im, func(x executor) (Answer, error) {
		s, err := bench.ExecuteInLoop(x, n)
		return Answer{Ops: s.Ops, Elapsed: int64(s.Elapsed)}, err
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

// measurePeak is execute by one producer that reads the clock, with tasks that read it too, as in
// latency.
func measurePeak(im impl, r Request) (Answer, error) {
	n, err := r.Int("n")
	if err != nil {
		return Answer{}, err
	}
	return on(im, func(x executor) (Answer, error) {
		s, err := bench.Offer(x, bench.Load{Producers: 1, Rate: bench.Unreachable, Tasks: n})
		return Answer{Ops: s.Ops, Elapsed: int64(s.Elapsed)}, err
	})
}

// measureLatency offers an open load: a task's latency counts from when it is due, so
// that a producer that was kept waiting hides nothing (bench.Offer).
func measureLatency(im impl, r Request) (Answer, error) {
	rate, err := r.Int("rate")
	if err != nil {
		return Answer{}, err
	}
	if rate == 0 {
		return Answer{}, fmt.Errorf("latency: rate is 0, want tasks per second")
	}
	n, err := r.Int("n")
	if err != nil {
		return Answer{}, err
	}
	warm, err := r.Int("warm")
	if err != nil {
		return Answer{}, err
	}
	return on(im, func(x executor) (Answer, error) {
		s, err := bench.Offer(x, bench.Load{Producers: 1, Rate: float64(rate), Warm: warm, Tasks: n})
		if err != nil {
			return Answer{}, err
		}
		return Answer{Samples: samplesOf(s)}, nil
	})
}

// samplesOf has the latencies of a slice of package bench in the form of the wire.
func samplesOf(s bench.Slice) Samples {
	var samples Samples
	for _, bar := range s.Latency.Distribution() {
		if bar.Count > 0 {
			samples = samples.add(roundTo3(bar.To), int(bar.Count))
		}
	}
	return samples
}
