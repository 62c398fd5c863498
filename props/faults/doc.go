// Package faults makes system calls of core fail, at random by a seed, on the real kernel.
//
// Package overlay builds programs in which the files of core that make system calls call the
// functions of this package instead (RawSyscall, EpollWait, Accept4 and others). Everything
// else of core is compiled as it is. Such a function either calls the kernel, or does what a
// kernel may do that is short of memory, descriptors or buffers, or is interrupted. In a
// program that is built without the overlay the package does nothing, and Installed is false.
//
// An injected fault leaves the kernel in the state that a real one would. After an injected
// EAGAIN the descriptor has a new edge if it is ready, because a real EAGAIN is followed by
// one. An injected EINTR of connect comes after the connect has begun.
package faults
