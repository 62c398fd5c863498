// Interleave runs the tests of Go packages under chosen schedules. It finds the
// schedules on which a test fails, deadlocks, panics, leaks goroutines or has a data
// race, minimises each and repeats it.
//
//	interleave test [flags] [packages]     explore the schedules of tests
//	interleave hunt -run TestX [package]   find, minimise, confirm, write a regression file
//	interleave replay FILE                 repeat a finding
//	interleave merge FILES                 join the results of shards
//	interleave doctor                      check this toolchain, print what is controlled
//	interleave bench                       measure schedules per second
//
// The flags -run, -skip, -race, -v, -json, -short, -tags, -count, -parallel, -failfast,
// -timeout, -mod, -modfile, -ldflags and -args mean what they mean to go test.
//
// Exit codes: 0 nothing found, 1 a finding, 2 bad input or a package that does not
// build, 3 not explored or undecided.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	commandline "eventide/internal/command"
	"eventide/props/interleave/driver"
)

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		driver.Interrupt() // the test processes are in groups of their own
		fmt.Fprintln(os.Stderr, "interleave: interrupted")
		os.Exit(driver.ExitUndecided)
	}()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

const usage = `usage:
  interleave test [flags] [packages]    explore the schedules of tests
  interleave hunt -run TestX [package]  find, minimise, confirm, write a regression file
  interleave replay FILE                repeat a finding
  interleave merge FILES                join the results of shards
  interleave doctor                     check this toolchain, print what is controlled
  interleave bench                      measure schedules per second
interleave test -h lists the flags.
exit codes: 0 nothing found, 1 a finding, 2 bad input, 3 not explored or undecided
`

// run runs one command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return driver.ExitInput
	}
	var code int
	var err error
	switch name, rest := args[0], args[1:]; name {
	case "test":
		code, err = test(rest, stdout, stderr)
	case "hunt":
		code, err = hunt(rest, stdout, stderr)
	case "replay":
		code, err = replay(rest, stdout, stderr)
	case "merge":
		code, err = merge(rest, stdout, stderr)
	case "doctor":
		code, err = doctor(rest, stdout, stderr)
	case "bench":
		code, err = bench(rest, stdout, stderr)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return driver.ExitNothing
	default:
		fmt.Fprintf(stderr, "interleave: there is no command %q\n%s", name, usage)
		return driver.ExitInput
	}
	var wrong usageError
	switch {
	case errors.As(err, &wrong):
		return commandline.Refuse(stderr, "interleave "+args[0], wrong.error)
	case err != nil:
		fmt.Fprintf(stderr, "interleave: %v\n", err)
	}
	return code
}
