package driver

import (
	"errors"
	"os/exec"
	"sync"
)

// groups are the process groups of the test processes that run. Each test process
// leads a group, so the children that it leaves behind end with it.
var groups struct {
	mu     sync.Mutex
	pids   map[int]bool
	closed bool
}

var errInterrupted = errors.New("interrupted")

// startProcess starts cmd as the leader of a process group. It fails after Interrupt.
func startProcess(cmd *exec.Cmd) error {
	groups.mu.Lock()
	defer groups.mu.Unlock()
	if groups.closed {
		return errInterrupted
	}
	lead(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	if groups.pids == nil {
		groups.pids = map[int]bool{}
	}
	groups.pids[cmd.Process.Pid] = true
	return nil
}

// endProcess ends what is left of the group of cmd. It must be called once for each
// process that startProcess has started.
func endProcess(cmd *exec.Cmd) {
	groups.mu.Lock()
	defer groups.mu.Unlock()
	delete(groups.pids, cmd.Process.Pid)
	killGroup(cmd.Process.Pid)
}

// Interrupt ends all test processes and lets no further one begin. The functions that
// wait for them return errors.
func Interrupt() {
	groups.mu.Lock()
	defer groups.mu.Unlock()
	groups.closed = true
	for pid := range groups.pids {
		killGroup(pid)
	}
}
