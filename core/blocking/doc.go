// Package blocking gives each connection an executor of its own, which does blocking I/O
// on any net.Conn: TCP, unix sockets, net.Pipe, and TLS, which event loops cannot serve
// because it has no descriptor. It corresponds to Netty's OIO transport
// (ThreadPerChannelEventLoopGroup, R177), but no end loses accepted bytes silently.
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
// The types and methods are like those of core/tcp, without water marks, SetAutoRead,
// CloseOutput, idle timeouts and Hold. Use core/tcp for many connections. Use this package
// for few connections, for TLS, and on systems other than Linux: it is portable.
//
// # Threads
//
// A channel belongs to one executor for its whole life. The methods of its handler and
// the listeners of its futures run there, one at a time; Channel.EventLoop accepts tasks,
// timers and hooks. The executor waits for input and for tasks at the same time: it waits
// in a read, and a task interrupts the read by a read deadline. So the connection belongs
// to its channel: no other code may read it, write to it, or set its deadlines. A Read
// whose deadline has passed must fail with os.ErrDeadlineExceeded, or with another error
// whose Timeout() is true. A timeout error when no deadline has passed is an error of the
// connection, and ETIMEDOUT always is.
//
// On the executor, Flush returns when the connection has taken the bytes. While the peer
// does not read, the executor does nothing else: no reads, no tasks, no timers. Two peers
// that both write more than the kernels buffer, and read only afterwards, wait for each
// other for ever, as with any blocking I/O. Such a wait ends when the peer reads, or by
// the timeout of Close, the deadline of CloseGracefully, or the close of the executor.
//
// Unlike core/tcp, this package has no Hold: a handler that needs the answer of other
// goroutines waits for it in Read, such as by core.Submit(workers, f).Wait(ctx). The executor
// serves no other connection meanwhile, and a shutdown drains the channel only after Read has
// returned. Shut the group down before the workers that its handlers wait for. An answer that a
// handler does not wait for is refused after the shutdown call: core.Report.WritesRefused counts
// such writes, and the first of them are logged.
//
// When its channel has ended and the tasks accepted by then have run, an executor is
// idle, and serves the next connection that is registered. Its goroutine lives until the
// group is shut down.
//
// # How a channel ends (G22)
//
// Every end of a channel has these steps, in this order, each exactly once:
// the connection is closed; CloseFuture completes; the futures of Close and
// CloseGracefully complete; the pending write futures complete, in the order of the
// writes; Handler.Error is called, after an error of the connection; the message of
// WithLogger is logged, if the end has one; Handler.Inactive is called, and then
// Handler.Unregistered.
//
// The causes of an end:
//
//   - Close sends the bytes that were flushed before, and no others. A peer that does not read
//     delays this by WithCloseTimeout at most.
//   - CloseGracefully sends all written bytes, and then waits for the peer's end.
//   - The peer's end of the stream: without WithHalfClosure writes are refused from then on, all
//     written bytes are sent, and the channel is closed as by Close.
//   - An error of the connection: Handler.Error is called, and the channel is closed as by
//     Close. An error or an end that a blocked Read returns because the channel itself closes
//     the connection is neither an error of the connection nor the peer's end.
//   - A handler method that does not return, because of a panic or runtime.Goexit: core
//     recovers and reports it, and the channel is closed with ErrHandlerFailed.
//   - A shutdown of its executor: see the next section.
//
// # Shutdown (G22, G23)
//
// At a graceful shutdown the handler gets no more input. The channel sends all written
// bytes, half-closes (CloseWrite, where the connection has it), reads and discards
// input until the peer has ended its side, waits until the peer has received everything,
// and closes. core.Report counts such an end in ChannelsDrained, any other in
// ChannelsAborted, and the bytes that the connection never took in BytesDiscarded.
//
// On Linux the channel asks the kernel which bytes the peer has received, for TCP and unix
// sockets, also under TLS: a TCP peer's kernel has acknowledged them; the peer of a
// unix socket has read them. For other connections only the order of the ends is known. If the
// peer's end is read after the half-close, it counts as the answer to the half-close, and the
// channel counts as drained. If the peer had ended its side before, and bytes were sent to it
// afterwards, it may not have read them: the channel counts as aborted, with no bytes
// discarded. A connection that cannot half-close, such as net.Pipe, counts as aborted too: its
// peer learns of the end only from the close.
//
// At the deadline, and at Shutdown, the connection is closed even while a read, write or
// handshake is blocked in it, so that no I/O outlives the deadline. An executor that is
// blocked in a write or a handshake at the shutdown call acts on core.CloseChannels only
// afterwards, or when the deadline cuts the connection.
//
// After the shutdown call a write fails with ErrChannelClosing: on other goroutines once
// that call has returned, on the loop once the loop has begun to drain the channel, which it
// does between two bodies.
package blocking
