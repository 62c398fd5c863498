//go:build !linux

package faults

// Owner receives faults. There are none on this system.
type Owner struct {
	Polled func()
	Refuse bool
}

// Own calls f.
func Own(_ *Owner, f func()) { f() }
