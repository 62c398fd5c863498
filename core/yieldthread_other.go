//go:build !linux

package core

// yieldThread does nothing: only Linux needs it, or has the call.
func yieldThread() {}
