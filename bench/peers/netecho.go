package peers

import (
	"net"
	"runtime"
	"sync"
	"time"
)

// echoServer answers every byte with itself.
type echoServer interface {
	port() int
	// stop ends the server with its connections and returns how long that took.
	stop() (time.Duration, error)
}

// echoLoops is the number of loops that carry connections: one per processor, in
// every implementation that has loops.
var echoLoops = runtime.NumCPU()

func netImpl() impl {
	none := "net has no executor"
	return impl{
		version: goVersion(), echo: echoNet,
		lacks: map[string]string{"tasks": none, "timers": none, "quiet": none},
	}
}

// netEcho is one goroutine per connection.
type netEcho struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool // guarded by mu
}

func echoNet() (echoServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &netEcho{listener: l, conns: map[net.Conn]bool{}}
	s.serving.Go(s.accept)
	return s, nil
}

func (s *netEcho) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[c] = true
		s.mu.Unlock()
		s.serving.Go(func() { s.serve(c) })
	}
}

func (s *netEcho) serve(c net.Conn) {
	buffer := make([]byte, 4096)
	for {
		n, err := c.Read(buffer)
		if err == nil {
			_, err = c.Write(buffer[:n])
		}
		if err != nil {
			break
		}
	}
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	c.Close()
}

func (s *netEcho) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

func (s *netEcho) stop() (time.Duration, error) {
	began := time.Now()
	err := s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
	return time.Since(began), err
}
