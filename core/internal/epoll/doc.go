// Package epoll has the pollers of event loops: two ways to sleep and to be woken over one
// epoll set. Linux only; elsewhere the package is empty.
package epoll
