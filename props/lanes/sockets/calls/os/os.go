//go:build linux

// Package os declares the part of the real package os that package epoll of core uses,
// for descriptors of a model of the kernel.
package os

import (
	"os"

	"eventide/props/lanes/sockets/kernel"
)

// File is a file that the Go runtime polls.
type File = kernel.File

// ErrDeadlineExceeded is os.ErrDeadlineExceeded.
var ErrDeadlineExceeded = os.ErrDeadlineExceeded

// NewFile is os.NewFile for a descriptor of the current kernel.
func NewFile(fd uintptr, _ string) *File { return kernel.Current().NewFile(int(fd)) }

// NewSyscallError is os.NewSyscallError.
func NewSyscallError(call string, err error) error { return os.NewSyscallError(call, err) }
