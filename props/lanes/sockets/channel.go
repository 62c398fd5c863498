//go:build linux

package sockets

import (
	"context"
	"net"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/tcp"
)

// channel has the methods that *tcp.Channel and *blocking.Channel have in common. Programs and
// judges use only these, unless they are about one of the packages.
type channel interface {
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
	EventLoop() *core.EventLoop
	IsOpen() bool
	PendingBytes() int64
	Close() *core.Future[struct{}]
	CloseGracefully(core.Deadline) *core.Future[struct{}]
	CloseFuture() *core.Future[struct{}]
	CloseCause() error
	write(p []byte, flush bool) writeFuture
	flush() writeFuture
}

// writeFuture has the methods that the futures of writes have in common.
type writeFuture interface {
	Err() error
	Done() <-chan struct{}
	Wait(context.Context) (int, error)
	OnDone(func(int, error))
}

type tcpChannel struct{ *tcp.Channel }

func (c tcpChannel) flush() writeFuture { return c.Flush() }
func (c tcpChannel) write(p []byte, flush bool) writeFuture {
	if flush {
		return c.WriteAndFlush(p)
	}
	return c.Write(p)
}

// ofTCP returns the channel of package tcp, or nil.
func ofTCP(ch channel) *tcp.Channel {
	if c, ok := ch.(tcpChannel); ok {
		return c.Channel
	}
	return nil
}

type blockingChannel struct{ *blocking.Channel }

func (c blockingChannel) flush() writeFuture { return c.Flush() }
func (c blockingChannel) write(p []byte, flush bool) writeFuture {
	if flush {
		return c.WriteAndFlush(p)
	}
	return c.Write(p)
}

// adapter makes a handler a tcp.Handler or a blocking.Handler.
type adapter[C any] struct {
	h  *handler
	of func(C) channel
}

func (a adapter[C]) Active(ch C)             { a.h.active(a.of(ch)) }
func (a adapter[C]) Read(ch C, p []byte)     { a.h.read(a.of(ch), p) }
func (a adapter[C]) ReadComplete(ch C)       { a.h.readComplete(a.of(ch)) }
func (a adapter[C]) WritabilityChanged(ch C) { a.h.writabilityChanged(a.of(ch)) }
func (a adapter[C]) InputShutdown(ch C)      { a.h.inputShutdown(a.of(ch)) }
func (a adapter[C]) Inactive(ch C)           { a.h.ends("Inactive", a.of(ch)) }
func (a adapter[C]) Unregistered(ch C)       { a.h.ends("Unregistered", a.of(ch)) }
func (a adapter[C]) Error(ch C, err error)   { a.h.failed(a.of(ch), err) }

func asTCP(ch *tcp.Channel) channel           { return tcpChannel{ch} }
func asBlocking(ch *blocking.Channel) channel { return blockingChannel{ch} }

// idleHandler is a handler of core/tcp that is a tcp.IdleHandler.
type idleHandler struct{ adapter[*tcp.Channel] }

func (h idleHandler) Idle(ch *tcp.Channel, kind tcp.IdleKind) {
	h.h.c.idle(kind)
	h.h.called("Idle", asTCP(ch))
}

func (h *handler) overTCP() tcp.Handler {
	a := adapter[*tcp.Channel]{h, asTCP}
	if h.r.p.Options.IdleHandler {
		return idleHandler{a}
	}
	return a
}
