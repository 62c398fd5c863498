package survey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"eventide/props/interleave/driver"
	"eventide/props/interleave/evidence"
)

// Options bound the exploration of a module.
type Options struct {
	Schedules uint64        // of each test
	Budget    time.Duration // of the search in all tests of a module
	Limit     time.Duration // of a module with its build, after which it is killed
	Race      bool
	Leaks     bool
	Processes int
}

// Explore explores the tests of the module in dir, and writes a line of JSON for each
// report. It is what the child process of Run does.
func Explore(m Module, dir string, o Options, reports io.Writer, pages io.Writer) error {
	for key, value := range settings {
		if err := os.Setenv(key, value); err != nil {
			return err
		}
	}
	good, bad, err := m.packages(dir)
	if err != nil {
		return err
	}
	out := json.NewEncoder(reports)
	for path, why := range bad {
		if err := out.Encode(driver.Report{Package: path, Undecided: "does not build", Text: why}); err != nil {
			return err
		}
	}
	if len(good) == 0 {
		return nil
	}
	var failed error
	_, err = driver.Test(driver.Options{
		Dir: dir, Patterns: good, Race: o.Race, Leaks: o.Leaks, Schedules: o.Schedules, Budget: o.Budget, Exhaust: -1,
		Timeout: o.Limit, Processes: o.Processes, Stdout: pages, Stderr: pages, Verbose: true,
		Report: func(r driver.Report) { failed = errors.Join(failed, out.Encode(r)) },
	})
	return errors.Join(err, failed)
}

// Run explores m in a child process, command being how to start one that calls Explore
// with the same arguments, and returns the reports that it wrote. Files of the run are
// below dir.
func Run(m Module, dir string, o Options, command func(source, reports string) *exec.Cmd) (*Result, error) {
	base := filepath.Join(dir, m.Name())
	source, file := filepath.Join(base, "source"), filepath.Join(base, "reports.json")
	if err := os.RemoveAll(base); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, err
	}
	r := &Result{Module: m.Path, Version: m.Version, Commit: evidence.Revision}
	begin := time.Now()
	if err := Fetch(m, source); err != nil {
		r.Failed = err.Error()
		return r, nil
	}
	pages, err := os.Create(filepath.Join(base, "pages.txt"))
	if err != nil {
		return nil, err
	}
	defer pages.Close()
	cmd := command(source, file)
	cmd.Stdout, cmd.Stderr = pages, pages
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.Limit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL) })
	err = cmd.Wait()
	if !stop() {
		r.Failed = fmt.Sprintf("killed after %v", o.Limit)
	} else if err != nil {
		r.Failed = fmt.Sprintf("%v; see pages.txt", err)
	}
	r.Seconds = time.Since(begin).Round(time.Second).Seconds()
	return r, r.read(file)
}
