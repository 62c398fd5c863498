package main

import (
	"strings"
	"testing"

	"eventide/props/interleave/driver"
)

// The clock stands still while a signal to the own process is on its way, however the
// signal is sent and however the test waits for it.
func TestSignalsToItself(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

func TestKill(t *testing.T) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ended := make(chan bool, 1)
	go func() {
		ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
		defer stop()
		<-ctx.Done()
		ended <- true
	}()
	syscall.Kill(os.Getpid(), syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(time.Minute): // of virtual time, except without control
		t.Error("it did not end")
	}
}

func TestPoll(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	defer signal.Stop(c)
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	p.Signal(os.Interrupt)
	for end := time.Now().Add(time.Minute); len(c) == 0; time.Sleep(time.Second) {
		if time.Now().After(end) {
			t.Fatal("no signal")
		}
	}
}
`)
	out := want(t, driver.ExitNothing, []string{"test", "-schedules", "300"}, "TestKill: not controlled: ", "TestPoll: not controlled: ", "signals", "600 schedules")
	if strings.Contains(out, "undecided") {
		t.Errorf("a schedule is undecided\n%s", out)
	}
}

// Gosched gives the turn away outside of a schedule too: signal.Stop calls it until the goroutine
// of package signal, which Notify has started, waits for signals.
func TestGoschedInTestMain(t *testing.T) {
	module(t, "x_test.go", `package x

import (
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"testing"
)

func TestMain(m *testing.M) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	var begun atomic.Bool
	go begun.Store(true)
	for !begun.Load() {
		runtime.Gosched()
	}
	os.Exit(m.Run())
}

func TestNothing(t *testing.T) {
	done := make(chan bool)
	go close(done)
	<-done
}
`)
	want(t, driver.ExitNothing, []string{"test", "-schedules", "50"}, "50 schedules")
}
