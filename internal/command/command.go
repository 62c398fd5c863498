// Package command has what the module's commands share. They all read their command lines by
// it, so that each refuses the same mistakes in the same words and with the same exit code.
package command

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ExitUsage is the exit code of a command that refused its command line and did
// nothing.
const ExitUsage = 2

// Parse parses args, of which only flags may be left, and then returns the first error
// of check, if that is not nil. It prints nothing but the flags, if they are asked for
// by -h: then it returns flag.ErrHelp.
func Parse(f *flag.FlagSet, args []string, stderr io.Writer, check func() error) error {
	if err := ParseFlags(f, args, stderr); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("got arguments %q, want none", f.Args())
	}
	if check == nil {
		return nil
	}
	return check()
}

// ParseFlags is Parse for a command that takes arguments behind its flags.
func ParseFlags(f *flag.FlagSet, args []string, stderr io.Writer) error {
	f.SetOutput(io.Discard) // Refuse says what is wrong, once
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(stderr)
		f.Usage()
	}
	return err
}

// Refuse prints an error of Parse and returns the exit code of the command: 0 if help
// was asked for, and ExitUsage for everything else.
func Refuse(stderr io.Writer, name string, err error) int {
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintf(stderr, "%s: %v; -h lists the flags\n", name, err)
	return ExitUsage
}

// AtLeast is an error if the value of a flag is less than least.
func AtLeast[T cmp.Ordered](name string, value, least T) error {
	if value < least {
		return fmt.Errorf("%s is %v, want at least %v", name, value, least)
	}
	return nil
}

// Positive is an error if the value of a flag is not more than 0.
func Positive[T cmp.Ordered](name string, value T) error {
	var zero T
	if value <= zero {
		return fmt.Errorf("%s is %v, want more than 0", name, value)
	}
	return nil
}

// OneOf is an error if the value of a flag is none of those known.
func OneOf(name, value string, known []string) error {
	if !slices.Contains(known, value) {
		return fmt.Errorf("%s is %q, want one of %s", name, value, strings.Join(known, ", "))
	}
	return nil
}

// Given reports whether a flag was on the command line.
func Given(f *flag.FlagSet, name string) bool {
	given := false
	f.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// WriteFile creates the file name, and its directory if there is none, and fills the file by
// write. It replaces a file that exists.
func WriteFile(name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(file)
	return errors.Join(write(buffered), buffered.Flush(), file.Close())
}
