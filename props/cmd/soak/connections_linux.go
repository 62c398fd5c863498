package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/core/tcp"
	"eventide/props/faults"
)

// connections is one life of an echo server, with its clients.
type connections struct {
	group    *core.Group
	addr     string
	shutting atomic.Bool
	early    bool // the shutdown comes while clients are connected
	accounts accounts
	before   int64 // faults that had been injected
}

// runConnections has clients of an echo server that read everything, others that reset the
// connection while the server writes, and others that are channels of core themselves.
func runConnections(rng *rand.Rand, f features) string {
	group, err := newGroup(rng, 2)
	if err != nil {
		return unlessInjected(err)
	}
	c := &connections{group: group, early: rng.IntN(4) == 0, before: allFaults()}
	listener, err := tcp.Listen(group, group, "127.0.0.1:0", c.newHandler, tcp.WithSocketBuffers(4096, 4096))
	if err != nil {
		<-group.Shutdown().Done()
		return unlessInjected(err)
	}
	c.addr = listener.Addr().String()
	clients := 1 + rng.IntN(6)
	results := make(chan clientResult, clients)
	for range clients {
		size, kind := 1+rng.IntN(200_000), rng.IntN(3)
		go func() { results <- c.client(size, kind) }()
	}
	var got []clientResult
	if !c.early {
		got = take(results, clients)
	}
	time.Sleep(time.Duration(rng.IntN(2000)) * time.Microsecond)
	timeout := patience
	if c.early {
		timeout = time.Duration(rng.IntN(20)) * time.Millisecond
	}
	c.shutting.Store(true)
	termination, err := group.ShutdownGracefully(0, timeout)
	if err != nil {
		return err.Error()
	}
	<-termination.Done()
	got = append(got, take(results, clients-len(got))...)
	return c.judge(got, f)
}

func take(results <-chan clientResult, n int) (all []clientResult) {
	for range n {
		all = append(all, <-results)
	}
	return all
}

// newHandler makes the handler of an accepted channel.
func (c *connections) newHandler() tcp.Handler {
	a := &account{shutting: c.shutting.Load}
	a.read = a.write
	return c.accounts.add(a)
}

// allFaults is how many faults have been injected.
func allFaults() (n int64) {
	for _, k := range faults.Kinds() {
		n += k.Count()
	}
	return n
}

// clientResult is the result of a client.
type clientResult struct {
	local string // its address
	rude  bool   // it has not read everything
	whole bool   // it got everything back
	wrong bool   // it got other bytes
	err   error
}

// client runs a client of one of three kinds.
func (c *connections) client(size, kind int) clientResult {
	sent := bytes.Repeat([]byte("eventide"), size/8+1)
	if kind == 2 {
		return c.dialled(sent)
	}
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		return clientResult{err: err}
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience)) // of a hang
	r := clientResult{local: conn.LocalAddr().String(), rude: kind == 1}
	wrote := make(chan error, 1)
	go func() {
		_, err := conn.Write(sent)
		if !r.rude {
			err = errors.Join(err, conn.(*net.TCPConn).CloseWrite())
		}
		wrote <- err
	}()
	var got []byte
	if r.rude {
		got, _ = io.ReadAll(io.LimitReader(conn, int64(size/2)))
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
		<-wrote
	} else {
		got, r.err = io.ReadAll(conn)
		r.err = errors.Join(r.err, <-wrote)
	}
	r.whole, r.wrong = len(got) == len(sent), !bytes.HasPrefix(sent, got)
	return r
}

// dialled is a client that is a channel of core, on the group of the server.
func (c *connections) dialled(sent []byte) (r clientResult) {
	a := c.accounts.add(&account{shutting: c.shutting.Load})
	got := 0
	a.active = func(ch *tcp.Channel) { a.write(ch, sent); ch.Flush() }
	a.read = func(ch *tcp.Channel, p []byte) {
		r.wrong = r.wrong || !bytes.HasPrefix(sent[min(got, len(sent)):], p)
		if got += len(p); got >= len(sent) {
			ch.Close()
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ch, err := tcp.Dial(ctx, c.group, c.addr, a)
	if err != nil {
		return clientResult{err: err, rude: true} // no connection, of which something could be wrong
	}
	if _, err := ch.CloseFuture().Wait(ctx); err != nil { // a hang
		ch.Close()
		<-ch.CloseFuture().Done()
		return clientResult{local: ch.LocalAddr().String(), err: err}
	}
	return clientResult{local: ch.LocalAddr().String(), whole: got == len(sent), wrong: r.wrong, err: ch.CloseCause()}
}

// judge returns the first contradiction between the group, its channels and its clients, or "".
func (c *connections) judge(clients []clientResult, f features) string {
	termination := c.group.Termination()
	failed := termination.Err()
	if failed != nil && !faults.Explains(failed) {
		return fmt.Sprintf("G15: the group ended with %v", failed)
	}
	if !c.early && failed == nil && c.accounts.timedOut() {
		return fmt.Sprintf("G23: a channel was not drained in %v", patience)
	}
	sent, broken := c.accounts.judge(termination.Report(), failed != nil)
	if f.promised != nil {
		f.promised.Add(sent)
	}
	if broken != "" {
		return broken
	}
	for _, r := range clients {
		if text := c.wrongClient(r, failed != nil); text != "" {
			return text
		}
	}
	return ""
}

// wrongClient describes the error of the end of a client, or returns "". A client that reads
// everything gets everything, unless the shutdown or an injected fault ended its connection.
func (c *connections) wrongClient(r clientResult, failed bool) string {
	a := c.accounts.of(r.local)
	switch {
	case r.wrong:
		return "G23: a client got other bytes than it sent"
	case r.whole || r.rude || c.early || failed:
		return ""
	case faults.Explains(r.err) && !errors.As(r.err, new(*net.OpError)):
		return "" // a channel of core that an injected fault ended
	case a == nil && allFaults() > c.before:
		return "" // the server could not make a channel
	case a != nil && faults.Explains(a.cause):
		return ""
	}
	cause := errors.New("no channel")
	if a != nil {
		cause = a.cause
	}
	return fmt.Sprintf("G23: a client that reads everything ended with %v and without all bytes, and the channel of the server with %v", r.err, cause)
}
