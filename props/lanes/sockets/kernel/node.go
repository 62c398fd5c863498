//go:build linux

package kernel

import "golang.org/x/sys/unix"

// node is the wait queue of a file. Guarded by Kernel.mu.
type node struct {
	watches []*watch        // of epoll sets
	waiting []chan struct{} // of goroutines: each is closed at the next wake-up
	edges   []func()        // called at each wake-up
}

func (n *node) base() *node { return n }

// always are the events that every watch has.
const always = unix.EPOLLERR | unix.EPOLLHUP

// wake announces that the file may be ready for key; 0 is anything. As in Linux,
// epoll_wait finds out later what the file is ready for.
func (n *node) wake(key uint32) {
	for _, w := range n.watches {
		if !w.disabled && (key == 0 || key&(w.interest|always) != 0) {
			w.becomesReady()
		}
	}
	n.unpark()
	for _, edge := range n.edges {
		edge()
	}
}

// unpark wakes the goroutines that wait for the file.
func (n *node) unpark() {
	for _, ch := range n.waiting {
		close(ch)
	}
	n.waiting = nil
}

// wait returns a channel that is closed at the next wake-up.
func (n *node) wait() <-chan struct{} {
	ch := make(chan struct{})
	n.waiting = append(n.waiting, ch)
	return ch
}
