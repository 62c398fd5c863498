// Package sockets runs generated programs of connections, peers and shutdowns on core/tcp,
// over a model of the kernel's sockets (package kernel) and in virtual time.
package sockets
