package peers

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

const (
	echoMessage  = 64                     // bytes of a request, and of its answer
	echoTime     = 200 * time.Millisecond // of one slice
	echoDials    = 64                     // at a time
	echoPatience = 20 * time.Second       // for one dial, and for one echo
)

// clients are open connections.
type clients []net.Conn

// perSource is how many connections are opened from one address of the loopback: with
// all to one server, each takes a port of its own from some 28,000.
const perSource = 10_000

// source returns the address that connection i comes from: 127.0.0.1, .2 and so on.
func source(i int) net.IP { return net.IPv4(127, 0, 0, byte(1+i/perSource)) }

// connect opens n connections, or none.
func connect(address string, n int) (clients, error) {
	all := make(clients, n)
	err := all.each(func(i int) error {
		dialer := net.Dialer{Timeout: echoPatience}
		if i >= perSource {
			dialer.LocalAddr = &net.TCPAddr{IP: source(i)}
		}
		conn, err := dialer.Dial("tcp", address)
		if err != nil {
			return err
		}
		all[i] = conn
		return nil
	})
	if err != nil {
		all.close()
		return nil, err
	}
	return all, nil
}

// each does something for every connection, echoDials at a time.
func (c clients) each(do func(i int) error) error {
	failures := make([]error, len(c))
	slots := make(chan struct{}, echoDials)
	var doing sync.WaitGroup
	for i := range c {
		slots <- struct{}{}
		doing.Go(func() {
			failures[i] = do(i)
			<-slots
		})
	}
	doing.Wait()
	return errors.Join(failures...)
}

// close resets the connections: closed in the usual way they would keep their ports
// for minutes.
func (c clients) close() {
	for _, conn := range c {
		if conn != nil {
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	}
}

// greeted opens n connections and has one message echoed on each, or returns none.
func greeted(address string, n int) (clients, error) {
	all, err := connect(address, n)
	if err != nil {
		return nil, err
	}
	if err := all.greet(); err != nil {
		all.close()
		return nil, err
	}
	return all, nil
}

// greet has one message echoed on each.
func (c clients) greet() error {
	return c.each(func(i int) error { return echoSoon(c[i], make([]byte, echoMessage)) })
}

// echoSoon is echoOnce with echoPatience from now on, which holds for later ones too.
func echoSoon(conn net.Conn, buffer []byte) error {
	if err := conn.SetDeadline(time.Now().Add(echoPatience)); err != nil {
		return err
	}
	return echoOnce(conn, buffer)
}

func echoOnce(conn net.Conn, buffer []byte) error {
	if _, err := conn.Write(buffer); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, buffer)
	return err
}

// echoLoad keeps one request on its way on each connection, for echoTime.
func echoLoad(address string, connections int) (Answer, error) {
	all, err := greeted(address, connections)
	if err != nil {
		return Answer{}, err
	}
	defer all.close()
	counts, failures := make([]int, connections), make([]error, connections)
	began := time.Now()
	end := began.Add(echoTime)
	var running sync.WaitGroup
	for i, conn := range all {
		running.Go(func() {
			buffer := make([]byte, echoMessage)
			for time.Now().Before(end) && failures[i] == nil {
				if failures[i] = echoOnce(conn, buffer); failures[i] == nil {
					counts[i]++
				}
			}
		})
	}
	running.Wait()
	a := Answer{Elapsed: int64(time.Since(began))}
	for _, n := range counts {
		a.Ops += n
	}
	return a, errors.Join(failures...)
}

const (
	readinessTrips = 30
	longestPause   = 5 * time.Millisecond
)

// echoTrips has n messages echoed on one connection, one after the other, and measures
// each. Before each it pauses, for a time that does not follow the beat of any
// scheduler: the server is idle when the message comes.
func echoTrips(address string, n int) (Answer, error) {
	one, err := greeted(address, 1)
	if err != nil {
		return Answer{}, err
	}
	defer one.close()
	pauses := rand.New(rand.NewPCG(1, 1)) // everybody gets the same
	buffer := make([]byte, echoMessage)
	values := make([]int64, n)
	for i := range values {
		time.Sleep(time.Duration(pauses.Int64N(int64(longestPause))))
		began := time.Now()
		if err := echoSoon(one[0], buffer); err != nil {
			return Answer{}, err
		}
		values[i] = int64(time.Since(began))
	}
	return Answer{Samples: collect(values)}, nil
}
