// Package tcp is TCP on event loops: a listener, channels with handlers that run
// on their loop, an outbound buffer with water marks and write futures, and an end
// that can be trusted.
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
// there, one at a time, and so do the listeners of its futures. The methods of a
// Channel may be called from any goroutine, at any time, from inside every handler
// method too. Write appends to the buffer before it returns, whoever calls: bytes
// leave in the order in which the calls happened. To flush is the loop's; a Flush
// from elsewhere is sent there.
//
// # How a channel ends (G22)
//
// However it ends, these happen in this order, each exactly once: the socket is
// closed; CloseFuture; the futures of Close, CloseGracefully and CloseOutput; the
// write futures that are pending, in the order of the writes, those whose bytes the
// kernel took before with success and the others with a *ClosedError that names
// why; Handler.Inactive; Handler.Unregistered. A loop does not end before the last
// of these, so that there is no case in which nobody is left to deliver them (in
// Netty there is, R214). Futures complete in that order, and the listeners that they
// have by then run in it. One that is added to a future after it has completed runs
// behind Inactive and Unregistered; but if a listener of the same future adds it, it is
// the next one, as always (core.Future).
//
//   - Close: now. What is still in the buffer fails, as in Netty (R215).
//   - CloseGracefully: what is in the buffer is sent first. See there.
//   - The peer's end of the stream: what was written is sent, and then as Close,
//     unless WithHalfClosure. After CloseGracefully, or the shutdown call of its loop,
//     that end counts, whichever is seen first.
//   - An error of the connection: Handler.Error, then as Close. That of a send is told
//     behind the body that met it, and the channel is closed then, though that body calls
//     Close. If a shutdown aborts the channel before, Error is not called.
//   - An idle timeout (WithIdleTimeouts), unless the handler is an IdleHandler: as an error
//     of the connection, with an *IdleError.
//   - A handler method that does not return (a panic, runtime.Goexit): core
//     contains and reports it, and the channel is closed with ErrHandlerFailed, for
//     nobody knows in which state the handler is.
//   - A shutdown of its loop: see the next section.
//
// # Shutdown (G22, G23)
//
// When its loop is shut down gracefully with the policy core.DrainChannels, the
// default, a channel does what CloseGracefully does, with the deadline of the
// shutdown: it hears no more input, sends what is in its buffer, half-closes,
// reads and discards until the peer has ended its side, and closes. That counts as
// drained in core.Report: what was accepted by Write and what the peer's kernel
// acknowledged are the same number of bytes. Every other end is aborted, and its
// bytes that never reached the kernel are counted as discarded.
//
// The tempting wrong version is to close the socket after the last write. If the
// peer has sent something that was not read, that close resets the connection,
// and the peer loses what it had not read yet.
//
// A write after the shutdown call fails with ErrChannelClosing: from other
// goroutines from the return of that call on; on the loop from the moment at which
// the loop tells its channels to drain, which is between two bodies. So a handler
// that answers within Read has answered all that it was ever given. It is the same
// with CloseGracefully.
//
// A handler that hands requests to other goroutines holds the channel for each of them
// (Channel.Hold): writes are accepted, and the drain waits, until the last release. If its
// handlers do not, a program stops the input (Quiesce) before it ends the executors that
// compute the answers.
//
// A listener takes what the kernel has accepted by then, and ends: at once, unless a
// worker's queue is bounded and full, and then when there is room. Workers that have
// ended by then are passed over. A connection whose handshake ends just in between is
// reset.
package tcp
