package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"eventide/core"
)

// condition disturbs the process until quit is closed.
type condition func(quit <-chan struct{})

var conditions = []condition{collect, interrupt, pause}

// disturb starts the conditions, and returns what ends them.
func disturb(conditions []condition) (stop func()) {
	quit := make(chan struct{})
	var all sync.WaitGroup
	for _, c := range conditions {
		all.Go(func() { c(quit) })
	}
	return func() {
		close(quit)
		all.Wait()
	}
}

// collect makes garbage and collects it.
func collect(quit <-chan struct{}) {
	for !over(quit, time.Millisecond) {
		garbage := make([][]byte, 64)
		for i := range garbage {
			garbage[i] = make([]byte, 4096)
		}
		runtime.GC()
		runtime.KeepAlive(garbage)
	}
}

// interrupt sends signals to the process, whose handler makes epoll_wait return EINTR.
func interrupt(quit <-chan struct{}) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	defer signal.Stop(signals)
	for !over(quit, time.Millisecond) {
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)
	}
}

// pause stops the whole process for some milliseconds, again and again. Another process has
// to continue it.
func pause(quit <-chan struct{}) {
	for !over(quit, 20*time.Millisecond) {
		script := fmt.Sprintf("kill -STOP %d; sleep 0.02; kill -CONT %d", os.Getpid(), os.Getpid())
		shell := exec.Command("sh", "-c", script)
		shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // SIGINT from a terminal must not end it before it continues the process
		_ = shell.Run()                                         // without a shell there is no such condition
	}
}

func over(quit <-chan struct{}, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-quit:
		return true
	case <-timer.C:
		return false
	}
}

// scarce makes groups while the process may open few descriptors more, and returns how many
// were refused.
func scarce(rng *rand.Rand) (refused int, broken string) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, ""
	}
	before := descriptors()
	low := limit
	low.Cur = uint64(before + rng.IntN(6))
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		return 0, ""
	}
	var groups []*core.Group
	for range 3 {
		group, err := core.NewGroup(2)
		switch {
		case errors.Is(err, syscall.EMFILE):
			refused++
		case err != nil:
			broken = fmt.Sprintf("got %v, want room or EMFILE", err)
		default:
			groups = append(groups, group)
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return refused, err.Error()
	}
	for _, group := range groups {
		if text := useAndEnd(rng, group); text != "" {
			broken = text
		}
	}
	return refused, broken
}
