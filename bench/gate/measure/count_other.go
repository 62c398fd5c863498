//go:build !linux

package measure

import (
	"context"
	"errors"
)

var errNotLinux = errors.New("counting from outside needs Linux")

// CountSyscalls needs Linux.
func (b Binary) CountSyscalls(context.Context, string, int) (float64, error) { return 0, errNotLinux }

// CountInstructions needs Linux.
func (b Binary) CountInstructions(context.Context, string, int) (float64, error) {
	return 0, errNotLinux
}

// InstructionsMissing returns why instructions cannot be counted here.
func InstructionsMissing() error { return errNotLinux }
