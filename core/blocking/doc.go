// Package blocking gives each connection an executor of its own, which does
// blocking I/O on any net.Conn: TCP, unix sockets, net.Pipe, and TLS, which event
// loops cannot serve because it is no descriptor. It is Netty's OIO transport
// (ThreadPerChannelEventLoopGroup, R177), with an end that can be trusted.
//
//	g, _ := blocking.NewGroup(1000) // connections at a time; 0: no limit
//	ln, _ := tls.Listen("tcp", ":443", config)
//	go g.Serve(ln, func() blocking.Handler { return echo{} })
//	...
//	g.Close() // stop accepting, drain each connection, wait
//
//	type echo struct{ blocking.HandlerBase }
//
//	func (echo) Read(ch *blocking.Channel, p []byte) { ch.WriteAndFlush(p) }
//
// The vocabulary is that of core/tcp. Use that one for many connections; this one
// for few, for TLS, and off Linux: the package is portable.
//
// # Threads
//
// A channel belongs to one executor for its whole life. The methods of its handler
// and the listeners of its futures run there, one at a time; tasks, timers and
// hooks can be added by Channel.EventLoop. The executor waits for input by reading,
// and for tasks at the same time: a task interrupts the read, whose deadline is
// ours to set. So the connection belongs to its channel: nobody else may read it,
// write to it, or set its deadlines. A Read whose deadline has passed fails with
// os.ErrDeadlineExceeded, or with another error whose Timeout() is true; a timeout
// when no deadline has passed is an error of the connection, and ETIMEDOUT always is.
//
// A Flush returns to the executor when the connection has taken the bytes. While
// the peer does not read, the executor does nothing else: no reads, no tasks, no
// timers. Two peers that both write more than the kernels hold, and read only
// afterwards, wait for each other for ever, as with any blocking I/O. What ends such
// a wait: the peer, Close after its time, the deadline of CloseGracefully, and the
// close of the executor.
//
// When its channel has ended and the tasks it had accepted by then have run, an
// executor goes idle, and serves the next connection that is registered. Its
// goroutine stays until the group is shut down.
//
// # How a channel ends (G22)
//
// However it ends, these happen in this order, each exactly once: the connection is
// closed; CloseFuture; the futures of Close and CloseGracefully; the write futures
// that are pending, in the order of the writes; Handler.Error, if it was an error of
// the connection; Handler.Inactive; Handler.Unregistered.
//
//   - Close: what was flushed before it, by anybody, is sent, and nothing else is. A
//     peer that does not read holds it up for WithCloseTimeout.
//   - CloseGracefully: what was written is sent, and the peer's end is waited for.
//   - The peer's end of the stream: what was written is sent, and then as Close,
//     unless WithHalfClosure.
//   - An error of the connection: Handler.Error, then as Close. What our own close of the
//     connection makes of a Read that is blocked in it, an error or an end, is neither an
//     error of the connection nor the peer's end.
//   - A handler method that does not return (a panic, runtime.Goexit): core
//     contains and reports it, and the channel is closed with ErrHandlerFailed.
//   - A shutdown of its executor: see the next section.
//
// # Shutdown (G22, G23)
//
// At a graceful shutdown a channel hears no more input, sends what was written,
// half-closes (CloseWrite, where the connection has it), reads and discards until
// the peer has ended its side, waits until the peer has received everything, and
// closes: that is EndDrained in the core.Report. Anything else is EndAborted, with the
// bytes that the connection never took as discarded.
//
// What the peer has received is asked of the kernel: on Linux, of TCP and unix
// sockets, under TLS too. The kernel of a TCP peer has acknowledged it; the peer of a
// unix socket has read it. Of another connection nothing can be known but the order:
// a peer's end that was read after the half-close is taken for the answer to that, and
// counts as drained. A peer that had ended its side before, and was sent something,
// may have gone without reading that: it counts as aborted, with nothing discarded.
// So does a connection that cannot half-close, such as net.Pipe, which cannot tell its
// peer that there is no more except by closing.
//
// At the deadline, and at Shutdown, the connection is closed under whatever read,
// write or handshake is blocked in it, so that nothing outlives the deadline. An
// executor is told of core.CloseChannels as of everything else: one that is blocked in a
// write or a handshake at the shutdown call hears of it after that, or is freed by the
// deadline.
//
// A write after the shutdown call fails with ErrChannelClosing: from other
// goroutines from the return of that call on; on the loop from the moment at which
// the loop tells its channel to drain, which is between two bodies.
package blocking
