//go:build linux

package sockets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"eventide/core/tcp"
)

// atBounds has calls whose argument is the least or the greatest that is permitted. Each must succeed.
var atBounds = append([]edgeCall{
	{name: "the zero WriteFuture", permitted: true, call: func(*run) (bool, error) { return false, zeroWriteFuture() }},
}, listensAtBounds()...)

// listensAtBounds returns calls of Listen with an option at one of its bounds. The listener is closed again.
func listensAtBounds() (calls []edgeCall) {
	for what, option := range map[string]tcp.Option{
		"the least water marks":     tcp.WithWriteBufferWaterMarks(1, 1),
		"the greatest water marks":  tcp.WithWriteBufferWaterMarks(math.MaxInt-1, math.MaxInt-1),
		"a write spin of 1":         tcp.WithWriteSpin(1),
		"the greatest write spin":   tcp.WithWriteSpin(math.MaxInt),
		"a read buffer of 1":        tcp.WithReadBuffer(1),
		"the greatest read buffer":  tcp.WithReadBuffer(tcp.MaxReadBuffer),
		"socket buffers of 0":       tcp.WithSocketBuffers(0, 0),
		"the greatest buffers":      tcp.WithSocketBuffers(math.MaxInt32/2, math.MaxInt32/2),
		"a linger of 0":             tcp.WithLinger(0),
		"the longest linger":        tcp.WithLinger(math.MaxInt64),
		"no keep-alive":             tcp.WithKeepAlive(0),
		"the longest keep-alive":    tcp.WithKeepAlive(32767 * time.Second),
		"a backlog of 1":            tcp.WithBacklog(1),
		"the greatest backlog":      tcp.WithBacklog(math.MaxInt32 - 1),
		"idle timeouts of 0":        tcp.WithIdleTimeouts(0, 0, 0),
		"the longest idle timeouts": tcp.WithIdleTimeouts(math.MaxInt64, math.MaxInt64, math.MaxInt64),
	} {
		calls = append(calls, edgeCall{name: "Listen with " + what, permitted: true, call: func(r *run) (bool, error) {
			l, err := tcp.Listen(r.boss, r.workers, anyPort, r.newHandler, option)
			if err != nil {
				return l != nil, err
			}
			_, err = l.Close().Wait(context.Background())
			return false, err
		}})
	}
	slices.SortFunc(calls, func(a, b edgeCall) int { return strings.Compare(a.name, b.name) })
	return calls
}

// zeroWriteFuture returns an error unless the zero value is the future of a write that has succeeded.
func zeroWriteFuture() error {
	var f tcp.WriteFuture
	heard := false
	f.OnDone(func(n int, err error) { heard = n == 0 && err == nil })
	n, err := f.Wait(context.Background())
	select {
	case <-f.Done():
	default:
		return errors.New("its Done is open")
	}
	if n != 0 || err != nil || f.Err() != nil || !heard {
		return fmt.Errorf("its Wait returns %d, %v, its Err %v, its listener heard of the success: %v", n, err, f.Err(), heard)
	}
	return nil
}
