// Package netpoll makes sure that the network poller of Go's runtime can be opened,
// before a timer or a socket opens it and cannot report the error.
package netpoll
