// Package works has tests without bugs: of every means of synchronisation there is.
package works

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand"
	randv2 "math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
)

func TestMutex(t *testing.T) {
	var mu sync.Mutex
	n := 0
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 3 {
				mu.Lock()
				n++
				mu.Unlock()
			}
			if mu.TryLock() {
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if n != 9 {
		t.Fatal(n)
	}
}

func TestRWMutex(t *testing.T) {
	var mu sync.RWMutex
	n := 0
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			if i%2 == 0 {
				mu.RLock()
				_ = n
				mu.RUnlock()
			} else {
				mu.Lock()
				n++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestCond(t *testing.T) {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	n := 0
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			mu.Lock()
			for n == 0 {
				c.Wait()
			}
			mu.Unlock()
		})
	}
	mu.Lock()
	n = 1
	mu.Unlock()
	c.Broadcast()
	wg.Wait()
}

func TestOnceMapPool(t *testing.T) {
	var once sync.Once
	var m sync.Map
	pool := sync.Pool{New: func() any { return new(int) }}
	var calls atomic.Int32
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			once.Do(func() { calls.Add(1) })
			m.LoadOrStore(i%2, i)
			pool.Put(pool.Get())
		})
	}
	wg.Wait()
	if calls.Load() != 1 {
		t.Fatal("once")
	}
}

func TestChannels(t *testing.T) {
	a, b, done := make(chan int), make(chan int, 2), make(chan struct{})
	go func() {
		defer close(done)
		for v := range a {
			select {
			case b <- v:
			default:
				b <- v
			}
		}
		close(b)
	}()
	go func() {
		for i := range 5 {
			a <- i
		}
		close(a)
	}()
	sum := 0
	for v := range b {
		sum += v
	}
	<-done
	if sum != 10 || len(b) != 0 || cap(b) != 2 {
		t.Fatal(sum)
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	child, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	begin := time.Now()
	ran := make(chan struct{})
	context.AfterFunc(child, func() { close(ran) })
	<-child.Done()
	<-ran
	if d := time.Since(begin); d < time.Second || d > time.Second+time.Millisecond {
		t.Fatal(d)
	}
	if !errors.Is(child.Err(), context.DeadlineExceeded) {
		t.Fatal(child.Err())
	}
}

func TestTime(t *testing.T) {
	begin := time.Now()
	time.Sleep(time.Hour / 10)
	tick := time.NewTicker(time.Second)
	for range 3 {
		<-tick.C
	}
	tick.Stop()
	timer := time.NewTimer(time.Minute)
	if !timer.Stop() || timer.Reset(time.Second) {
		t.Fatal("timer")
	}
	<-timer.C
	ran := make(chan struct{})
	time.AfterFunc(time.Second, func() { close(ran) })
	<-ran
	if d := time.Since(begin); d < time.Hour/10+5*time.Second || d > time.Hour/10+5*time.Second+time.Millisecond {
		t.Fatal(d)
	}
}

// Tickers that are due before they are started, or nearly.
func TestTinyTickers(t *testing.T) {
	for _, d := range []time.Duration{1, 10, 100} {
		tick := time.NewTicker(d)
		for range 3 {
			<-tick.C
		}
		tick.Reset(d)
		for range 3 {
			<-tick.C
		}
		tick.Stop()
	}
}

// A timer that was stopped moves no clock while a goroutine can run.
func TestStoppedTimer(t *testing.T) {
	begin := time.Now()
	var wg sync.WaitGroup
	wg.Go(func() { time.Sleep(time.Minute) })
	time.AfterFunc(10*time.Microsecond, func() {}).Stop()
	var n atomic.Int64
	for range 300 {
		n.Add(1)
	}
	if d := time.Since(begin); d > time.Second {
		t.Errorf("300 operations beside a sleep took %v", d)
	}
	wg.Wait()
}

func TestGroups(t *testing.T) {
	g, ctx := errgroup.WithContext(context.Background())
	sem := semaphore.NewWeighted(2)
	var flight singleflight.Group
	for i := range 4 {
		g.Go(func() error {
			if err := sem.Acquire(ctx, 1); err != nil {
				return err
			}
			defer sem.Release(1)
			_, err, _ := flight.Do("key", func() (any, error) { return i, nil })
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestPipes(t *testing.T) {
	r, w := io.Pipe()
	go func() { fmt.Fprintln(w, "hello"); w.Close() }()
	if b, _ := io.ReadAll(r); string(b) != "hello\n" {
		t.Fatal(string(b))
	}
	a, b := net.Pipe()
	go func() { fmt.Fprintln(a, "hello"); a.Close() }()
	b.SetReadDeadline(time.Now().Add(time.Second))
	if s, _ := bufio.NewReader(b).ReadString('\n'); s != "hello\n" {
		t.Fatal(s)
	}
	if _, err := b.Read(make([]byte, 1)); err == nil {
		t.Fatal("no error")
	}
}

func TestSubtests(t *testing.T) {
	var n atomic.Int32
	t.Run("group", func(t *testing.T) {
		for i := range 3 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				t.Cleanup(func() { n.Add(1) })
			})
		}
	})
	if n.Load() != 3 {
		t.Fatal(n.Load())
	}
}

func TestGoleak(t *testing.T) {
	defer goleak.VerifyNone(t)
	done := make(chan struct{})
	go func() { time.Sleep(time.Millisecond); close(done) }()
	<-done
}

func TestYield(t *testing.T) {
	var flag atomic.Bool
	go func() { time.Sleep(time.Millisecond); flag.Store(true) }()
	for !flag.Load() {
		runtime.Gosched()
	}
	flag.Store(false)
	go flag.Store(true)
	for !flag.Load() {
	}
	begin := time.Now()
	for time.Since(begin) < time.Second {
	}
}

func TestCoroutine(t *testing.T) {
	seq := iter.Seq[int](func(yield func(int) bool) {
		c := make(chan int)
		go func() { c <- 1 }()
		if yield(<-c) {
			yield(2)
		}
	})
	next, stop := iter.Pull(seq)
	if v, _ := next(); v != 1 {
		t.Fatal(v)
	}
	if v, _ := next(); v != 2 {
		t.Fatal(v)
	}
	stop()
}

func TestSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		c := make(chan int)
		go func() { time.Sleep(time.Second); c <- 1 }()
		<-c
		if time.Since(begin) != time.Second {
			t.Fatal("time")
		}
		n := 0
		go func() { n = 1 }()
		synctest.Wait()
		if n != 1 {
			t.Fatal("wait")
		}
	})
}

func TestPanics(t *testing.T) {
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		var c chan int
		close(c)
	}()
	if <-done == nil {
		t.Fatal("no panic")
	}
	go func() { defer close(done); runtime.Goexit() }()
	<-done
}

func TestLocked(t *testing.T) {
	c := make(chan int)
	go func() {
		runtime.LockOSThread()
		c <- 1
		<-c
	}()
	<-c
	c <- 1
}

func TestMapOrder(t *testing.T) {
	m := map[int]int{}
	for i := range 20 {
		m[i] = rand.Int() + randv2.Int()
	}
	c := make(chan int, 20)
	for k := range m {
		c <- k
	}
	if *show {
		for range 20 {
			fmt.Print(<-c, " ")
		}
		fmt.Println()
	}
}

// Timers that nobody waits for expire while goroutines run. With the timer channels of
// modules before Go 1.23 each of them moves the clock.
func TestAbandonedTimers(t *testing.T) {
	for i := range 170 {
		time.After(18*time.Millisecond + time.Duration(i)*70*time.Microsecond)
	}
	for i := range 10000 {
		time.After(30*time.Millisecond + time.Duration(i)*time.Millisecond)
	}
	done := make(chan struct{})
	go func() {
		var n atomic.Int64
		for range 600000 {
			n.Add(1)
		}
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("the guard expired")
	}
}
