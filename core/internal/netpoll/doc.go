// Package netpoll makes sure that the network poller of Go's runtime can be opened,
// before something opens it that cannot report an error.
package netpoll
