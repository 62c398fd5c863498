// Package tcp provides TCP on event loops: listeners, and channels whose handlers run on
// their loop. A channel has an outbound buffer with water marks and write futures, and
// every end of a channel completes its futures and calls its handler in one fixed order.
//
//	boss, _ := core.NewGroup(1)
//	workers, _ := core.NewGroup(runtime.GOMAXPROCS(0))
//	l, err := tcp.Listen(boss, workers, ":7", func() tcp.Handler { return echo{} })
//
//	type echo struct{ tcp.HandlerBase }
//
//	func (echo) Read(ch *tcp.Channel, p []byte) { ch.WriteAndFlush(p) }
//
// Linux only. On other systems the package builds, and Listen and Dial return
// errors.ErrUnsupported.
//
// # Threads
//
// A channel belongs to one loop for its whole life. The methods of its handler run
// on that loop, one at a time, and so do the listeners of its futures. The methods of a
// Channel may be called from any goroutine, at any time, also from inside a handler
// method. Write appends to the buffer before it returns, on every goroutine, so bytes
// leave in the order of the calls. Only the loop flushes: a Flush from another goroutine
// is posted to the loop.
//
// # How a channel ends (G22)
//
// Every end of a channel has these steps, in this order, each exactly once:
//
//  1. The socket is closed.
//  2. CloseFuture completes; then the futures of Close, CloseGracefully and CloseOutput.
//  3. The pending write futures complete, in the order of the writes: with success if
//     the kernel has taken the bytes, else with a *ClosedError that names the cause.
//  4. The message of WithLogger is logged, if the end has one.
//  5. Handler.Inactive is called, and then Handler.Unregistered.
//
// A loop does not terminate before the last step, so each step has a goroutine to run on.
// (Netty can lose the last steps, R214.) Listeners that a future has when it completes run in
// the order of the steps. A listener that is added to a completed future runs after Inactive
// and Unregistered; but a listener that is added by a listener of the same future runs next,
// as in core.Future.
//
// The causes of an end:
//
//   - Close ends the channel at once. Writes with bytes in the buffer fail, as in Netty
//     (R215).
//   - CloseGracefully sends the buffer first, and waits for the peer.
//   - The peer's end of the stream: without WithHalfClosure the buffer is sent, and the
//     channel is closed as by Close. If CloseGracefully or the shutdown of the loop has been
//     called, the channel ends as that call requires, even if the loop reads the end of the
//     stream before it begins the graceful close.
//   - An error of the connection: Handler.Error is called, and the channel is closed as by
//     Close. After an error of a send, both happen when the current body has returned, even
//     if that body calls Close. Error is not called if a shutdown aborts the channel first.
//   - An idle timeout (WithIdleTimeouts), unless the handler is an IdleHandler: an error
//     of the connection, with an *IdleError.
//   - A handler method that panics or calls runtime.Goexit: core contains and reports it,
//     and the channel is closed with ErrHandlerFailed, because the state of the handler
//     is unknown.
//   - A shutdown of its loop: see the next section.
//
// # Shutdown (G22, G23)
//
// When its loop is shut down gracefully with the policy core.DrainChannels, the
// default, a channel does what CloseGracefully does, with the deadline of the
// shutdown: it delivers no more input, sends its buffer, shuts down its output,
// reads and discards until the peer has ended its side, and closes. core.Report counts
// such a channel as drained: the peer's kernel has acknowledged every byte that Write
// accepted. Every other end counts as aborted, and the bytes that never reached the kernel
// count as discarded.
//
// The tempting wrong version closes the socket after the last write. If the socket then
// has unread input, the close resets the connection, and the peer loses the bytes that it
// has not read yet.
//
// A write after the shutdown call fails with ErrChannelClosing: on other goroutines once
// that call has returned, on the loop once the loop has begun to drain its channels, which
// it does between two bodies. So a handler that answers inside Read can answer all of
// its input. CloseGracefully refuses writes by the same rule.
//
// A handler that passes requests to other goroutines holds the channel for each request
// (Channel.Hold): the channel accepts writes, and the drain waits, until the last release.
// A program whose handlers do not hold their channels stops the input (Quiesce) before it
// ends the executors that compute the answers.
//
// A listener that is shut down accepts the connections that the kernel has queued by then,
// and closes. While the bounded queue of a worker is full, the listener waits for room; it
// skips workers that have terminated. A connection whose handshake completes between the last
// accept and the close is reset.
package tcp
