package main

import (
	"strings"
	"testing"

	"eventide/props/interleave/driver"
)

// A goroutine has the name of the function that it was started for, not that of a
// function of a library or of one that the compiler has put into it.
func TestNamesOfGoroutines(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"sync"
	"testing"
)

type cache struct {
	mu    sync.Mutex
	full  bool
	loads int
}

func (c *cache) get() {
	c.mu.Lock()
	full := c.full
	c.mu.Unlock()
	if full {
		return
	}
	c.mu.Lock()
	c.full = true
	c.loads++
	c.mu.Unlock()
}

func check(t *testing.T) {
	c := &cache{}
	var wg sync.WaitGroup
	wg.Go(c.get)
	wg.Go(func() { c.get() })
	wg.Wait()
	if c.loads != 1 {
		t.Errorf("%d loads", c.loads)
	}
}

func TestSub(t *testing.T) {
	t.Run("one", func(t *testing.T) { check(t) })
}

func TestDone(t *testing.T) {
	var wg sync.WaitGroup
	wg.Add(1)
	go wg.Done()
	go wg.Done()
	wg.Wait()
}
`)
	out := want(t, driver.ExitFinding, []string{"test", "-schedules", "200", "-run", "TestSub"}, " TestSub.func1 ", " (*cache).get ", " check.func1")
	for _, wrong := range []string{"highPrecisionTimeNow", "tRunner", "-fm"} {
		if strings.Contains(out, wrong) {
			t.Errorf("%s is the name of a goroutine\n%s", wrong, out)
		}
	}
	out = want(t, driver.ExitFinding, []string{"test", "-schedules", "200", "-run", "TestDone"}, "negative WaitGroup counter", " (*WaitGroup).Done")
	if strings.Contains(out, "gowrap") {
		t.Errorf("a function of the compiler is the name of a goroutine\n%s", out)
	}
}
