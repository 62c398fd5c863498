package peers

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

const (
	echoMessage  = 64                     // bytes of a request, and of its answer
	echoTime     = 200 * time.Millisecond // of one slice
	echoDials    = 64                     // at a time
	echoPatience = 20 * time.Second       // for all that is said on a connection
)

// clients are open connections.
type clients []net.Conn

// connect opens n connections, or none.
func connect(address string, n int) (clients, error) {
	all := make(clients, n)
	err := all.each(func(i int) error {
		conn, err := net.DialTimeout("tcp", address, echoPatience)
		if err != nil {
			return err
		}
		all[i] = conn
		return conn.SetDeadline(time.Now().Add(echoPatience))
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

// greet has one message echoed on each.
func (c clients) greet() error {
	return c.each(func(i int) error { return echoOnce(c[i], make([]byte, echoMessage)) })
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
	all, err := connect(address, connections)
	if err != nil {
		return Answer{}, err
	}
	defer all.close()
	if err := all.greet(); err != nil {
		return Answer{}, err
	}
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
