package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// measure builds the binaries and runs each under each condition, one at a time. It
// writes conditions.json after each condition, so that an interrupted run keeps what it
// found. On an error the report is nil or holds the runs up to there.
func (s settings) measure(ctx context.Context, progress io.Writer) (*report, error) {
	if err := os.MkdirAll(filepath.Join(s.out, "conditions", "bin"), 0o777); err != nil {
		return nil, err
	}
	binaries, err := s.listPackages(ctx)
	if err != nil {
		return nil, err
	}
	for i := range binaries {
		fmt.Fprintf(progress, "build %s\n", binaries[i].Package)
		s.build(ctx, &binaries[i])
	}
	r := newReport(ctx, s, binaries)
	for _, c := range s.conditions {
		s.column(ctx, r, c, progress)
		if err := r.write(filepath.Join(s.out, "conditions.json")); err != nil {
			return r, err
		}
	}
	return r, ctx.Err()
}

// column runs every binary under one condition.
func (s settings) column(ctx context.Context, r *report, c condition, progress io.Writer) {
	c, end, err := c.surround()
	defer end()
	for _, b := range r.Binaries {
		result := cell{Verdict: notRun}
		switch {
		case ctx.Err() != nil:
			result.Reason = "interrupted"
		case err != nil:
			result.Reason = notSetUp(err)
		default:
			result = s.cell(ctx, b, c)
		}
		r.set(b, c, result)
		fmt.Fprintf(progress, "%-14s %-50s %-8s %6.1f s %s\n", c.Name, b.Package, result.Verdict, result.Seconds, result.why())
	}
}

// surround sets up the part of c that is outside of the confined process. The function
// that it returns takes it down, also after an error.
func (c condition) surround() (condition, func(), error) {
	var ends []func()
	end := func() {
		for _, e := range ends {
			e()
		}
	}
	if c.TempDir != "" {
		dir, err := os.MkdirTemp("", c.TempDir)
		if err != nil {
			return c, end, err
		}
		ends = append(ends, func() { os.RemoveAll(dir) })
		c.Env = append(slices.Clone(c.Env), "TMPDIR="+dir)
	}
	if c.Busy > 0 {
		stop, err := load(c.Busy * runtime.NumCPU())
		if err != nil {
			return c, end, err
		}
		ends = append(ends, stop)
	}
	return c, end, nil
}

func notSetUp(err error) string {
	return "the condition could not be set up: " + strings.TrimSpace(err.Error())
}

// cell runs one binary under one condition.
func (s settings) cell(ctx context.Context, b binary, c condition) cell {
	switch {
	case b.Error != "":
		return cell{Verdict: fail, Reason: "it does not build: " + b.Error}
	case b.Exclude != "":
		return cell{Verdict: notRun, Reason: b.Exclude}
	}
	output := filepath.Join(s.out, "conditions", fileName(b.Package)+"."+c.Name+".txt")
	file, err := os.Create(output)
	if err != nil {
		return cell{Verdict: notRun, Reason: err.Error()}
	}
	defer file.Close()
	began := time.Now()
	cmd, err := c.start(func() *exec.Cmd { return s.command(b, c, file) })
	if err != nil {
		return cell{Verdict: notRun, Reason: notSetUp(err)}
	}
	exit := s.wait(ctx, cmd)
	if ctx.Err() != nil {
		return cell{Verdict: notRun, Reason: "interrupted"}
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return cell{Verdict: notRun, Reason: err.Error()}
	}
	t, err := parseTests(file)
	if err != nil {
		return cell{Verdict: notRun, Reason: err.Error()}
	}
	v := judge(t, exit)
	v.Seconds, v.Output = time.Since(began).Seconds(), output
	return v
}

// command is the test binary as go test would call it, with its output to file.
func (s settings) command(b binary, c condition, file *os.File) *exec.Cmd {
	args := []string{"-test.v=test2json", "-test.paniconexit0", "-test.timeout=" + s.timeout.String()}
	if s.short {
		args = append(args, "-test.short")
	}
	if s.tests != "" {
		args = append(args, "-test.run="+s.tests)
	}
	cmd := exec.Command(b.path, args...)
	cmd.Dir = b.dir
	cmd.Env = append(append(os.Environ(), "PWD="+b.dir), c.Env...)
	cmd.Stdout, cmd.Stderr = file, file
	return cmd
}

// errHung is the exit of a binary that outlived its own timeout.
var errHung = errors.New("it did not end by its own timeout and was killed")

// wait waits for cmd and ends it, with its children, if ctx ends or if cmd does not end
// itself at the timeout.
func (s settings) wait(ctx context.Context, cmd *exec.Cmd) error {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	hung := time.NewTimer(s.timeout + s.grace)
	defer hung.Stop()
	defer killGroup(cmd) // what a test left behind
	select {
	case err := <-ended:
		return err
	case <-hung.C:
		killGroup(cmd)
		<-ended
		return errHung
	case <-ctx.Done():
		killGroup(cmd)
		return <-ended
	}
}
