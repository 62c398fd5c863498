// Package transport has what core/tcp and core/blocking share: the errors of a closed
// channel, a handler that does nothing, how options are applied, and how a failure is
// logged.
package transport
