package props

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// sockets is the kernel of the real lane: each descriptor number is one end of a socket
// pair, and the harness writes to the other end.
type sockets struct {
	mu    sync.Mutex
	pairs map[int][2]int // by number: the watched end and the harness's end
}

func newSockets() (*sockets, error) {
	s := &sockets{pairs: map[int][2]int{}}
	for fd := 1; fd <= fdNumbers; fd++ {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			s.close()
			return nil, os.NewSyscallError("socketpair", err)
		}
		s.pairs[fd] = pair
	}
	return s, nil
}

// number implements kernel.
func (s *sockets) number(fd int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pairs[fd][0]
}

// input implements kernel.
func (s *sockets) input(fd int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = unix.Write(s.pairs[fd][1], []byte{1}) // an error means that it is full, and so readable already
}

// consume implements kernel: it reads until the descriptor would block.
func (s *sockets) consume(fd, _ int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	buf := make([]byte, 64)
	for {
		if n, err := unix.Read(s.pairs[fd][0], buf); n <= 0 && err != unix.EINTR {
			return
		}
	}
}

// closeFD and fail implement kernel. They do nothing with real descriptors.
func (s *sockets) closeFD(int) {}
func (s *sockets) fail(Fault)  {}

func (s *sockets) close() {
	for _, pair := range s.pairs {
		_ = unix.Close(pair[0])
		_ = unix.Close(pair[1])
	}
}
