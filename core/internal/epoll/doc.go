// Package epoll has the two pollers of event loops. They share one type for the epoll
// set, and differ in how the loop sleeps and is woken. Linux only; elsewhere the package
// is empty.
package epoll
