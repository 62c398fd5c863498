// Package transport contains code that core, core/tcp and core/blocking share: the errors of a
// closed channel, a handler that does nothing, the application of options, and the log of a
// failure.
package transport
