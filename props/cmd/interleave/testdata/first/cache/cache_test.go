package cache

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLoadsOnce(t *testing.T) {
	var loads atomic.Int64
	c := New(time.Minute, func(key string) (string, error) {
		loads.Add(1)
		time.Sleep(time.Millisecond)
		return "value of " + key, nil
	})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if v, err := c.Get("a"); err != nil || v != "value of a" {
				t.Errorf("got %q, %v", v, err)
			}
		})
	}
	wg.Wait()
	if n := loads.Load(); n != 1 {
		t.Errorf("loaded %d times", n)
	}
}

func TestInvalidate(t *testing.T) {
	var version atomic.Int64
	c := New(time.Minute, func(key string) (string, error) { return fmt.Sprint(version.Load()), nil })
	done := make(chan bool)
	go func() {
		c.Get("a")
		close(done)
	}()
	version.Store(1)
	c.Invalidate("a")
	<-done
	if v, _ := c.Get("a"); v != "1" {
		t.Errorf("stale value %s after Invalidate", v)
	}
}
