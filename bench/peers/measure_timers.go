package peers

import (
	"math/rand/v2"
	"sync"
	"time"
)

// timers is an implementation's.
type timers interface {
	schedule(delay time.Duration, f func()) (canceller, error)
	// fence returns when the loop has taken in what it was told.
	fence() error
	close() error
}

// A canceller is a scheduled timer. An interface that holds a pointer needs no memory of its own, as a
// closure would.
type canceller interface{ Cancel() bool }

// timerBatch is how many timers are scheduled before they are cancelled.
const timerBatch = 64

// timersPending is how many others are in the heap all the while.
const timersPending = 1000

// measureScheduleCancel schedules and cancels batch after batch, each followed by a
// fence, or from outside: by a task of its own.
func measureScheduleCancel(im impl, r Request) (Answer, error) {
	n, err := r.Int("n")
	if err != nil {
		return Answer{}, err
	}
	t, err := im.timers()
	if err != nil {
		return Answer{}, err
	}
	a, err := scheduleCancel(t, r.Args["where"] == "loop", max(1, n/timerBatch))
	if closeErr := t.close(); err == nil {
		err = closeErr
	}
	return a, err
}

func scheduleCancel(t timers, inLoop bool, batches int) (Answer, error) {
	random := rand.New(rand.NewPCG(1, 1)) // everybody gets the same delays
	far := func() time.Duration { return time.Hour + time.Duration(random.Int64N(int64(time.Hour))) }
	var scheduled [timerBatch]canceller
	batch := func() error {
		for i := range scheduled {
			var err error
			if scheduled[i], err = t.schedule(far(), func() {}); err != nil {
				return err
			}
		}
		for _, timer := range scheduled {
			timer.Cancel()
		}
		return nil
	}
	for range timersPending {
		timer, err := t.schedule(far(), func() {})
		if err != nil {
			return Answer{}, err
		}
		defer timer.Cancel()
	}
	if err := t.fence(); err != nil {
		return Answer{}, err
	}
	run := runOutside
	if inLoop {
		run = runInLoop
	}
	elapsed, err := run(t, batches, batch)
	return Answer{Ops: batches * timerBatch, Elapsed: int64(elapsed)}, err
}

func runOutside(t timers, batches int, batch func() error) (time.Duration, error) {
	began := time.Now()
	for range batches {
		if err := batch(); err != nil {
			return 0, err
		}
		if err := t.fence(); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// runInLoop has a task do a batch and submit itself.
func runInLoop(t timers, batches int, batch func() error) (time.Duration, error) {
	x, done := t.(executor), make(chan error, 1)
	var turn func()
	turn = func() {
		if batches--; batches < 0 {
			done <- nil
			return
		}
		err := batch()
		if err == nil {
			err = x.Execute(turn)
		}
		if err != nil {
			done <- err
		}
	}
	began := time.Now()
	if err := x.Execute(turn); err != nil {
		return 0, err
	}
	err := <-done
	return time.Since(began), err
}

// measureLateness schedules n timers of 1 to 20 ms and a bit, from outside.
func measureLateness(im impl, r Request) (Answer, error) {
	n, err := r.Int("n")
	if err != nil {
		return Answer{}, err
	}
	t, err := im.timers()
	if err != nil {
		return Answer{}, err
	}
	late := make([]int64, n)
	var fired sync.WaitGroup
	fired.Add(n)
	for i := range n {
		delay := lateDelay(i)
		due := time.Now().Add(delay)
		if _, err := t.schedule(delay, func() {
			late[i] = int64(time.Since(due))
			fired.Done()
		}); err != nil {
			return Answer{}, err
		}
	}
	fired.Wait()
	return Answer{Samples: collect(late)}, t.close()
}

// lateDelay spreads the timers over 20 ms, so that hardly two are due together.
func lateDelay(i int) time.Duration {
	return time.Millisecond*time.Duration(1+i%20) + 7*time.Microsecond*time.Duration(i%100)
}
