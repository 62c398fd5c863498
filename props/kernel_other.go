//go:build !linux

package props

import "errors"

var errNoEpoll = errors.New("props: the real lane needs epoll")

type sockets struct{}

func newSockets() (*sockets, error) { return nil, errNoEpoll }

func (*sockets) number(fd int) int { return fd }
func (*sockets) input(int)         {}
func (*sockets) consume(int, int)  {}
func (*sockets) closeFD(int)       {}
func (*sockets) fail(Fault)        {}
func (*sockets) close()            {}
