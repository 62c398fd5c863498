//go:build linux

package sockets

import (
	"errors"
	"os"
	"syscall"

	"eventide/core"
	"eventide/core/tcp"
	"eventide/props/lanes/sockets/kernel"
)

// failBefore makes a group and a listener, each of which fails if a call of the kernel does, and leaves
// nothing behind. It is called before the run has anything of its own.
func (r *run) failBefore(opts []core.Option) {
	if len(r.p.Kernel.Before) == 0 {
		return
	}
	r.k.Inject(r.p.Kernel.Before, 0)
	defer r.k.Inject(nil, 0)
	g, err := core.NewGroup(1, opts...)
	if r.failsWith("NewGroup", g != nil, err, r.k.Failures()); err != nil {
		return
	}
	before := r.k.Failures()
	l, err := tcp.Listen(g, g, r.at(), r.newHandler, r.options()...)
	failures := r.k.Failures()
	for f, n := range before {
		if failures[f] -= n; failures[f] == 0 {
			delete(failures, f)
		}
	}
	if r.listensOnIPv4(failures) {
		failures = nil
		if l != nil && l.Addr().String()[0] == '[' {
			r.violate("Listen at %q without IPv6 listens at %v", r.at(), l.Addr())
		}
	}
	if r.failsWith("Listen", l != nil, err, failures); err == nil {
		<-l.Close().Done()
	}
	if n := r.sockets(); n > 0 {
		r.violate("G24: %d sockets are open after Listen, and it returned the error %v", n, err)
	}
	if err := g.Close(); err != nil {
		r.violate("Close of a group without tasks: %v", err)
	}
	if n := len(r.k.Open()); n > 0 {
		r.violate("G24: %d descriptors are open after the end of a group", n)
	}
}

// failsWith checks that a call has failed if and only if a call of the kernel has, and with its error.
func (r *run) failsWith(call string, some bool, err error, failures map[kernel.Failure]int) {
	var errno syscall.Errno
	explained := errors.As(err, &errno) || errors.Is(err, os.ErrNoDeadline) && failures[kernel.Failure{Op: kernel.OpPolled, Errno: syscall.ENOSPC}] > 0
	for f := range failures {
		explained = explained && (f.Errno == errno || f.Op == kernel.OpPolled || len(failures) > 1)
	}
	switch {
	case (err != nil) != (len(failures) > 0), err != nil && !explained:
		r.violate("%s returned the error %v, and these calls of the kernel have failed: %v", call, err, failures)
	case some == (err != nil):
		r.violate("%s returned some result: %v, and the error %v", call, some, err)
	}
}

// listensOnIPv4 reports whether Listen, at every address of the machine, must take the failure of its
// first socket as a sign that the system has no IPv6.
func (r *run) listensOnIPv4(failures map[kernel.Failure]int) bool {
	if !r.listensEverywhere() || r.p.Options.At == "[::]:0" || len(failures) != 1 {
		return false
	}
	for f, n := range failures {
		noIPv6 := f.Errno == syscall.EAFNOSUPPORT || f.Errno == syscall.EPROTONOSUPPORT || f.Errno == syscall.EADDRNOTAVAIL
		if !noIPv6 || n != 1 || f.Op != kernel.OpSocket && f.Op != kernel.OpBind {
			return false
		}
	}
	return true
}
