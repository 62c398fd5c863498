package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
)

// busyVerb, as the first argument, makes this program a busy process.
const busyVerb = "busy-process"

// busy computes until held ends. held is a pipe from the command, so no busy process
// outlives it, however the command ends.
func busy(held io.Reader) {
	var ended atomic.Bool
	go func() {
		io.Copy(io.Discard, held) // an error is an end too
		ended.Store(true)
	}()
	for !ended.Load() {
	}
}

// load starts n busy processes and returns the function that ends them and waits.
func load(n int) (end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var stops []func()
	end = func() {
		for _, stop := range stops {
			stop()
		}
	}
	for range n {
		cmd := exec.Command(self, busyVerb)
		cmd.Stderr = os.Stderr
		hold, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			end()
			return nil, errors.Join(errors.New("no busy process started"), err)
		}
		stops = append(stops, func() {
			hold.Close()
			cmd.Process.Kill() // it may have no processor to see the end of the pipe on
			cmd.Wait()
		})
	}
	return end, nil
}
