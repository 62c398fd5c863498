// Package transport is what the transports of core share, which are core/tcp and
// core/blocking: the errors of a closed channel, a handler that does nothing, how options
// are applied, and how a failure is logged.
package transport
