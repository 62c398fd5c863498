//go:build !linux

package netpoll

// Open does nothing: on other systems opening the runtime's poller is left to the
// runtime.
func Open() error { return nil }
