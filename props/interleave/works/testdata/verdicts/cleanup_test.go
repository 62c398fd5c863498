package verdicts

import (
	"runtime"
	"testing"
	"time"
)

// collected lets the collector run the cleanup of an object that nobody refers to.
func collected(done chan bool) {
	x := new([100]int)
	runtime.AddCleanup(x, func(c chan bool) { close(c) }, done)
	x = nil
	runtime.GC()
}

func TestCleanup(t *testing.T) {
	done := make(chan bool)
	collected(done)
	<-done
}

// The clock does not move while a cleanup is under way.
func TestCleanupInTime(t *testing.T) {
	done := make(chan bool)
	collected(done)
	select {
	case <-done:
	case <-time.After(time.Second):
		t.Error("the guard has fired")
	}
}

// A cleanup that waits for the program keeps nobody waiting.
func TestCleanupSleeps(t *testing.T) {
	x, done := new([100]int), make(chan bool)
	runtime.AddCleanup(x, func(c chan bool) { <-c; time.Sleep(time.Hour); c <- true }, done)
	x = nil
	runtime.GC()
	done <- true
	<-done
}
