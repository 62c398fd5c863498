//go:build !linux

package main

import (
	"errors"
	"os/exec"
)

// confinedVerb is the first argument of a confined process.
const confinedVerb = "confined-process"

func confined([]string) int { return exitUsage }

// start refuses: a condition needs namespaces and limits of Linux.
func (c condition) start(func() *exec.Cmd) (*exec.Cmd, error) {
	return nil, errors.New("conditions are set up on Linux only")
}

func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
