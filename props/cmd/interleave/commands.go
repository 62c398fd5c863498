package main

import (
	"errors"
	"io"
	"os"

	"eventide/internal/shard"
	"eventide/props/interleave/driver"
)

func test(args []string, stdout, stderr io.Writer) (int, error) {
	c := newCommand("test", stdout, stderr)
	if err := c.parse(args); err != nil {
		return driver.ExitInput, err
	}
	var err error
	if c.opts.Shard, err = shard.FromEnv(os.Getenv); err != nil {
		return driver.ExitInput, err
	}
	return driver.Test(c.opts)
}

// merge joins the files of state of the shards of a run.
func merge(args []string, stdout, stderr io.Writer) (int, error) {
	c := newCommand("merge", stdout, stderr)
	if err := c.parse(args); err != nil {
		return driver.ExitInput, err
	}
	if len(c.opts.Patterns) == 0 {
		return driver.ExitInput, usageError{errors.New("merge: want the files that -state of the shards named")}
	}
	return driver.Merge(c.opts, c.opts.Patterns)
}

// hunt is test with a regression file for each confirmed finding, and a search that
// goes on until something is found or the budget ends.
func hunt(args []string, stdout, stderr io.Writer) (int, error) {
	c := newCommand("hunt", stdout, stderr)
	if err := c.parse(args); err != nil {
		return driver.ExitInput, err
	}
	if c.opts.Run == "" {
		return driver.ExitInput, usageError{errors.New("-run has to name the test")}
	}
	return driver.Hunt(c.opts)
}

func replay(args []string, stdout, stderr io.Writer) (int, error) {
	c := newCommand("replay", stdout, stderr)
	if err := c.parse(args); err != nil {
		return driver.ExitInput, err
	}
	if len(c.opts.Patterns) != 1 {
		return driver.ExitInput, usageError{errors.New("replay: want one file")}
	}
	return driver.ReplayFile(c.opts, c.opts.Patterns[0])
}

func doctor(args []string, stdout, stderr io.Writer) (int, error) {
	c := newCommand("doctor", stdout, stderr)
	if err := c.parse(args); err != nil {
		return driver.ExitInput, err
	}
	if len(c.opts.Patterns) != 0 {
		return driver.ExitInput, usageError{errors.New("doctor takes no packages")}
	}
	return driver.Doctor(c.opts)
}

func bench(args []string, stdout, stderr io.Writer) (int, error) {
	c := newCommand("bench", stdout, stderr)
	if err := c.parse(args); err != nil {
		return driver.ExitInput, err
	}
	if len(c.opts.Patterns) != 0 {
		return driver.ExitInput, usageError{errors.New("bench takes no packages")}
	}
	return driver.Bench(c.opts)
}
