package runner

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"time"
)

// Process is one run of a program to its end.
type Process struct {
	Bin, Dir  string
	Args      []string
	Env       []string      // more of the environment: "NAME=value"
	Limit     time.Duration // after so long it and its descendants are killed; builds of a descendant do not count; 0: no limit
	MaxMemory int64         // resident bytes: it is killed if it has more; 0: no limit
}

// Exit is how a program ended.
type Exit struct {
	Output string // of both streams
	Failed bool   // it was killed, or its exit code was not 0
	Hung   bool   // it was killed because of Process.Limit
	Full   bool   // it was killed because of Process.MaxMemory
}

// Run runs the program and waits for its end. That it fails is no error of Run; that it cannot
// be started is one.
func (p Process) Run() (Exit, error) {
	cmd := exec.Command(p.Bin, p.Args...)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), p.Env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return Exit{}, err
	}
	full, hung := func() bool { return false }, func() bool { return false }
	if p.MaxMemory > 0 {
		full = KillAbove(cmd.Process, p.MaxMemory)
	}
	if p.Limit > 0 {
		hung = killAfter(cmd.Process.Pid, p.Limit)
	}
	err := cmd.Wait()
	e := Exit{Full: full(), Hung: hung(), Output: out.String()}
	var code *exec.ExitError
	e.Failed = e.Full || e.Hung || errors.As(err, &code)
	if e.Failed {
		err = nil
	}
	return e, err
}
