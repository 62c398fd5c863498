//go:build !linux

package bench

// loops are the event loops, which need epoll.
var loops, bareLoops []implementation
