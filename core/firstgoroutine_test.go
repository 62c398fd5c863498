package core_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"eventide/core"
)

// firstEnv tells a process that it is one of TestG2FirstGoroutineOfAProcess.
const firstEnv = "EVENTIDE_TEST_FIRST_GOROUTINE"

func init() { ownProcesses = append(ownProcesses, onFirstGoroutine) }

// TestG2FirstGoroutineOfAProcess: main runs on goroutine 1. It is in no executor: neither before a loop has
// started, nor beside it, nor when it has ended (G2). No test runs on this goroutine.
func TestG2FirstGoroutineOfAProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), firstEnv+"=1", "GORACE=atexit_sleep_ms=0") // a second otherwise
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "outside\n" {
		t.Errorf("G2: the process said %q, %v; want outside", out, err)
	}
}

// onFirstGoroutine is the life of such a process.
func onFirstGoroutine() (ran bool) {
	if os.Getenv(firstEnv) == "" {
		return false
	}
	if err := outsideAlways(); err != nil {
		fmt.Println(err)
		return true
	}
	fmt.Println("outside")
	return true
}

func outsideAlways() error {
	left := make(chan struct{}, 2) // a loop has returned
	spawner := core.WithSpawner(func(loop func()) error {
		go func() {
			loop()
			left <- struct{}{}
		}()
		return nil
	})
	ex, err := core.NewExecutor(spawner)
	if err != nil {
		return err
	}
	p, err := core.NewPool(1, spawner)
	if err != nil {
		return err
	}
	outside := func(when string) error {
		if ex.InEventLoop() || p.InEventLoop() {
			return fmt.Errorf("%s: InEventLoop is %v for the executor and %v for the pool", when, ex.InEventLoop(), p.InEventLoop())
		}
		if in, ok := core.Current(); ok {
			return fmt.Errorf("%s: Current is %v", when, in)
		}
		return nil
	}
	errs := []error{outside("before the start")}
	for _, e := range []core.EventExecutor{ex, p} {
		ran := make(chan struct{})
		if err := e.Execute(func() { close(ran) }); err != nil {
			return err
		}
		<-ran
	}
	errs = append(errs, outside("beside a loop"))
	ex.Shutdown()
	p.Shutdown()
	<-left
	<-left
	return errors.Join(append(errs, outside("after the end"))...)
}
