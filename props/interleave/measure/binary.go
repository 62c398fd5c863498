package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"eventide/props/interleave/overlay"
	"eventide/props/interleave/protocol"
)

// A binary is a compiled test binary.
type binary struct{ name, dir string }

// overlayOf makes the overlay for the go command of this process, in the user's cache, and
// returns the name of its file and its hash. In a directory of the module its Go files would
// be packages of the pattern ./...
func overlayOf() (name, hash string, err error) {
	env, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return "", "", fmt.Errorf("go env: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", err
	}
	lines := strings.Split(string(env), "\n")
	name, err = overlay.Make(lines[0], lines[1], filepath.Join(cache, "interleave"))
	return name, filepath.Base(filepath.Dir(name)), err
}

// compile compiles the tests of the package in dir.
func compile(dir, out string, flags ...string) (*binary, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", append(append([]string{"test", "-c", "-vet=off", "-o", out}, flags...), ".")...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%v in %s: %w\n%s", cmd.Args, dir, err, text)
	}
	return &binary{out, dir}, nil
}

// processLimit ends a controlled process that is stuck.
const processLimit = 2 * time.Minute

// An ending is what a controlled process said.
type ending struct {
	finding *protocol.Schedule
	hashes  []string // decisions and class of each schedule, at detail 1
	counts  protocol.Counts
	outside []string // uncontrolled operations: the first of each kind, and where
	cpu     time.Duration
	output  string
}

// run runs n schedules of one test. An error is a process that ended without a record of
// why.
func (b *binary) run(test string, n int, r protocol.Request) (*ending, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	r.FD = 3 // the first of ExtraFiles
	ctx, cancel := context.WithTimeout(context.Background(), processLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.name, append(r.TestFlags(n), "-test.run=^"+test+"$")...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = b.dir, r.Environ(os.Environ()), []*os.File{write}
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Start()
	write.Close()
	if err != nil {
		return nil, err
	}
	e := &ending{}
	readErr := protocol.Read(read, e.take)
	waitErr := cmd.Wait()
	e.output = out.String()
	e.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch {
	case readErr != nil:
		return nil, fmt.Errorf("%s: %w\n%s", test, readErr, e.output)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: no end within %v\n%s", test, processLimit, e.output)
	case waitErr != nil && e.finding == nil:
		return nil, fmt.Errorf("%s: %w without a finding\n%s", test, waitErr, e.output)
	}
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		return nil, waitErr
	}
	return e, nil
}

func (e *ending) take(r protocol.Record) error {
	switch r.Kind {
	case protocol.KindFinding, protocol.KindSchedule:
		s, err := protocol.ScheduleOf(r)
		if err != nil {
			return err
		}
		if r.Kind == protocol.KindFinding {
			e.finding = &s
		}
		e.hashes = append(e.hashes, fmt.Sprintf("%x %x", s.Hash, s.Class))
	case protocol.KindProgress, protocol.KindSummary:
		e.counts = protocol.CountsOf(r)
	case protocol.KindOutside:
		o := protocol.OutsideOf(r)
		e.outside = append(e.outside, o.Kind+" in "+o.Func)
	case protocol.KindError:
		return fmt.Errorf("the process refused its request: %s", r.Text("text"))
	}
	return nil
}
