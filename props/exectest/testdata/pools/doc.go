// Package pools has executors and worker pools of the plain kind: a queue, a few
// goroutines, and a way to stop. Each has a mistake that is known from real ones, and
// works without it.
package pools

import "errors"

// errClosed is the refusal of a pool that was stopped.
var errClosed = errors.New("pools: closed")

// errArgument is the refusal of a stop with a bad argument.
var errArgument = errors.New("pools: bad argument")
