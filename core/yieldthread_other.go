//go:build !linux

package core

// yieldThread does nothing where there is no such call.
func yieldThread() {}
