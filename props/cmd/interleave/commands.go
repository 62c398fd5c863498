package main

import (
	"io"

	"eventide/props/interleave/driver"
)

func test(args []string, stdout, stderr io.Writer) (int, error) {
	c := newCommand("test", stdout, stderr)
	if err := c.parse(args); err != nil {
		return driver.ExitInput, err
	}
	return driver.Test(c.opts)
}

// hunt is test with a regression file for each confirmed finding, and a search that
// goes on until something is found or the budget ends.
func hunt(args []string, stdout, stderr io.Writer) (int, error) {
	c := newCommand("hunt", stdout, stderr)
	if err := c.parse(args); err != nil {
		return driver.ExitInput, err
	}
	if c.opts.Run == "" {
		return driver.ExitInput, inputError("hunt: -run names the test")
	}
	return driver.Hunt(c.opts)
}

func replay(args []string, stdout, stderr io.Writer) (int, error) {
	c := newCommand("replay", stdout, stderr)
	if err := c.parse(args); err != nil {
		return driver.ExitInput, err
	}
	if len(c.opts.Patterns) != 1 {
		return driver.ExitInput, inputError("replay: want one file")
	}
	return driver.ReplayFile(c.opts, c.opts.Patterns[0])
}

func doctor(args []string, stdout, stderr io.Writer) (int, error) {
	c := newCommand("doctor", stdout, stderr)
	if err := c.parse(args); err != nil {
		return driver.ExitInput, err
	}
	if len(c.opts.Patterns) != 0 {
		return driver.ExitInput, inputError("doctor takes no packages")
	}
	return driver.Doctor(c.opts)
}

func bench(args []string, stdout, stderr io.Writer) (int, error) {
	c := newCommand("bench", stdout, stderr)
	if err := c.parse(args); err != nil {
		return driver.ExitInput, err
	}
	if len(c.opts.Patterns) != 0 {
		return driver.ExitInput, inputError("bench takes no packages")
	}
	return driver.Bench(c.opts)
}
