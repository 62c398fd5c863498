package scale

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"eventide/core"
	"eventide/core/tcp"
)

// messageSize is the size of a request, in bytes.
const messageSize = 64

// echo measures the requests per second of an echo server of core/tcp. Each connection sends its
// next request when it has the answer. Server and clients share the process and its processors.
type echo struct {
	loops, connections int
	lasts              time.Duration
}

type echoHandler struct{ tcp.HandlerBase }

func (echoHandler) Read(ch *tcp.Channel, p []byte) { ch.WriteAndFlush(p) }

// run is one slice, on a new server.
func (e echo) run() (perSecond float64, err error) {
	loops, err := core.NewGroup(e.loops)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, loops.Close()) }()
	server, err := tcp.Listen(loops, loops, "127.0.0.1:0", func() tcp.Handler { return echoHandler{} })
	if err != nil {
		return 0, err
	}
	clients, err := connect(server.Addr().String(), e.connections)
	if err == nil {
		perSecond, err = drive(clients, e.lasts)
	}
	for _, c := range clients {
		err = errors.Join(err, c.Close())
	}
	return perSecond, err
}

// perAddress is how many connections come from one address: less than there are ports.
const perAddress = 20_000

// connect opens n connections, from as many loopback addresses as that needs.
func connect(to string, n int) ([]net.Conn, error) {
	all := make([]net.Conn, 0, n)
	for i := range n {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(1+i/perAddress))}}
		c, err := d.DialContext(context.Background(), "tcp", to)
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

// drive makes each client send requests until the time is over, and returns the number of
// answers. A client waits for the answer to its last request; answers after the end of the time
// do not count.
func drive(clients []net.Conn, lasts time.Duration) (perSecond float64, err error) {
	var answers atomic.Int64
	var over atomic.Bool
	errs := make([]error, len(clients))
	var all sync.WaitGroup
	began := time.Now()
	timer := time.AfterFunc(lasts, func() { over.Store(true) })
	defer timer.Stop()
	for i, c := range clients {
		all.Go(func() {
			message := make([]byte, messageSize)
			for !over.Load() {
				if _, errs[i] = c.Write(message); errs[i] != nil {
					return
				}
				if _, errs[i] = io.ReadFull(c, message); errs[i] != nil {
					return
				}
				answers.Add(1)
			}
		})
	}
	all.Wait()
	return float64(answers.Load()) / time.Since(began).Seconds(), errors.Join(errs...)
}

// lacks returns why this process cannot have so many connections, or "". A connection takes two
// descriptors, one of the server and one of the client. lacks raises the soft limit if it may.
func lacks(connections int) string {
	need := uint64(2*connections + 100)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err.Error()
	}
	if limit.Cur >= need {
		return ""
	}
	if limit.Max < need {
		return fmt.Sprintf("needs %d descriptors, and the process may have %d", need, limit.Max)
	}
	limit.Cur = need
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err.Error()
	}
	return ""
}
