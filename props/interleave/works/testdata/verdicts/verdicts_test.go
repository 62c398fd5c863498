// Package verdicts has a test for each verdict, and for each promise of the clock.
package verdicts

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestPassed(t *testing.T) {}

func TestExited(t *testing.T) { os.Exit(3) }

func TestFatal(t *testing.T) {
	m := map[int]int{}
	var mu sync.Mutex
	m[0] = 0
	mu.Unlock()
}

// The ticker goes on for ever, the test does not.
func TestPartialDeadlock(t *testing.T) {
	stop := make(chan struct{})
	go func() {
		tick := time.NewTicker(time.Second)
		for range tick.C {
		}
	}()
	func() {
		var mu sync.Mutex
		mu.Lock()
		mu.Lock()
	}()
	close(stop)
}

// The goroutine that goes on sleeps each time, so no horizon tells.
func TestPartialSleeper(t *testing.T) {
	go func() {
		for {
			time.Sleep(time.Millisecond)
		}
	}()
	c := make(chan int)
	c <- 1
}

// A goroutine that works now and then could still unlock the mutex.
func TestPartialReachable(t *testing.T) {
	var mu sync.Mutex
	n := 0
	go func() {
		for range time.NewTicker(time.Second).C {
			if n++; n < 0 {
				mu.Unlock()
			}
		}
	}()
	mu.Lock()
	mu.Lock()
}

// The goroutine that sleeps could still end the wait, and nobody knows when.
func TestHorizon(t *testing.T) {
	done := make(chan struct{})
	go func() {
		for n := 0; n < 1<<40; n++ {
			time.Sleep(time.Second)
		}
		close(done)
	}()
	<-done
}

// Nobody sets the flag.
func TestLivelock(t *testing.T) {
	var flag atomic.Bool
	go func() {
		for !flag.Load() {
			runtime.Gosched()
		}
	}()
	for !flag.Load() {
	}
}

// Nobody sets the flag, and a goroutine that only sleeps is no reason to wait.
func TestSpinBesideSleeper(t *testing.T) {
	go func() {
		for {
			time.Sleep(time.Millisecond)
		}
	}()
	var flag atomic.Bool
	for !flag.Load() {
		runtime.Gosched()
	}
}

// More goroutines are ready at once than most programs ever have.
func TestManyReady(t *testing.T) {
	var wg sync.WaitGroup
	gate := make(chan bool)
	for range 17000 {
		wg.Go(func() { <-gate })
	}
	time.Sleep(time.Second)
	close(gate)
	wg.Wait()
}

// Two goroutines that step back for each other; only one order of their first steps
// makes them do it for ever.
func TestPolite(t *testing.T) {
	var want [2]atomic.Bool
	var wg sync.WaitGroup
	var turns atomic.Int64
	var both atomic.Bool
	for i := range 2 {
		wg.Go(func() {
			want[i].Store(true)
			if i == 0 && want[1].Load() {
				both.Store(true)
			}
			for both.Load() {
				turns.Add(1)
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
}

// The default order of the first steps makes one of two goroutines go on for ever.
func TestPoliteAtFirst(t *testing.T) {
	var want [2]atomic.Bool
	var wg sync.WaitGroup
	var turns atomic.Int64
	for i := range 2 {
		wg.Go(func() {
			want[i].Store(true)
			for i == 1 && want[0].Load() {
				turns.Add(1)
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
}

// A goroutine waits for a lock whose owner runs for ever.
func TestStarvation(t *testing.T) {
	var mu sync.Mutex
	var taken, stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		if taken.Load() {
			mu.Lock() // the owner waits for the flag, this goroutine for the lock
			defer mu.Unlock()
		}
		stop.Store(true)
	})
	wg.Go(func() {
		mu.Lock()
		defer mu.Unlock()
		for !stop.Load() {
			taken.Store(true)
			runtime.Gosched()
		}
	})
	wg.Wait()
}

func TestTooLarge(t *testing.T) {
	var n atomic.Int64
	for range 400000 {
		n.Add(1)
	}
}

// A goroutine that spins is unfair to the one that ends its loop.
func TestUnfair(t *testing.T) {
	var flag atomic.Bool
	var n atomic.Int64
	go flag.Store(true)
	for !flag.Load() {
		n.Add(1)
	}
}

func TestLate(t *testing.T) {
	go func() {
		time.Sleep(time.Second)
		t.Error("too late")
	}()
}

func TestLatePanic(t *testing.T) {
	go func() {
		time.Sleep(time.Second)
		panic("too late")
	}()
}

func TestDataRace(t *testing.T) {
	n := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { n++ })
	}
	wg.Wait()
}

// Both channels are ready; the second is the one that nobody thinks of.
func TestSelect(t *testing.T) {
	a, b := make(chan int, 1), make(chan int, 1)
	a <- 1
	b <- 2
	select {
	case <-a:
	case <-b:
		t.Fatal("the second case")
	}
}

func TestMapOrder(t *testing.T) {
	m := map[string]int{"a": 1, "b": 2, "c": 3}
	first := ""
	for k := range m {
		first = k
		break
	}
	if first == "c" {
		t.Fatal("c comes first")
	}
}

// A system call that waits for another goroutine of the program.
func TestRawCall(t *testing.T) {
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	c := make(chan int)
	go func() {
		b := make([]byte, 1)
		n, _ := syscall.Read(p[0], b)
		c <- n
	}()
	go func() {
		runtime.Gosched()
		syscall.Write(p[1], []byte("x"))
	}()
	select {
	case n := <-c:
		if n != 1 {
			t.Fatal(n)
		}
	case <-time.After(time.Hour):
		t.Fatal("time-out")
	}
	syscall.Close(p[0])
	syscall.Close(p[1])
}

// The signal comes from outside, and late.
func TestLateSignal(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	cmd := exec.Command("sh", "-c", fmt.Sprint("sleep 0.05; kill -USR1 ", os.Getpid()))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-c
	cmd.Wait()
	signal.Stop(c)
}

func TestCollector(t *testing.T) {
	c := make(chan int)
	go func() { runtime.GC(); c <- 1 }()
	<-c
}

// A process that the test starts is not controlled, and does not have the descriptor of
// the records.
func TestChild(t *testing.T) {
	if s := os.Getenv("INTERLEAVE"); s != "" {
		t.Fatal("the request is in the environment:", s)
	}
	out, err := exec.Command("sh", "-c", "env | grep INTERLEAVE; ls /proc/$$/fd").Output()
	if err != nil || strings.Contains(string(out), "\n3\n") || strings.Contains(string(out), "INTERLEAVE") {
		t.Fatalf("%v %q", err, out)
	}
}

// A schedule of it has more than 20,000 decisions.
func TestManySteps(t *testing.T) {
	var n atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10000 {
				n.Add(1)
			}
		})
	}
	wg.Wait()
	if n.Load() != 40000 {
		t.Fatal(n.Load())
	}
}
