//go:build !linux

package netpoll

// Open does nothing: elsewhere the runtime's poller is left to the runtime.
func Open() error { return nil }
