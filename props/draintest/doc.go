// Package draintest is a conformance kit for servers that shut down. It starts a server,
// sends it requests of several kinds, shuts it down meanwhile, and judges the answers that
// the clients got:
//
//	func TestDrain(t *testing.T) {
//		draintest.Run(t, draintest.Command{Args: []string{"./server", "-listen", "{addr}"}}.Start)
//	}
//
// To test a server in the process of the test, write a Start function that returns its
// address, a function that begins the shutdown, and a channel that is closed at the end: see
// Server. Mount an Endpoint in the server, which answers the requests of the clients.
// Options are the fields of Kit.
//
// Before the shutdown the kit waits until each kind of client has an answer, or, for
// clients that span the shutdown, a request in flight. Then it calls Server.Shutdown, and
// the clients continue. A model of a load balancer reads the readiness probe, and clients
// behind it send requests until Kit.Lag after the first failed probe. Clients without a
// load balancer begin requests until a connection is refused. About 100 ms later slow
// clients complete their requests.
//
// # Accepted
//
// A server must not lose an accepted request. A request is accepted as soon as one of these
// has happened:
//
//   - The server's Endpoint began to handle it: the handler was called, or a line was passed
//     to the function of Endpoint.Lines. The kit knows this only if the server runs in the
//     process of the test.
//   - The client has read "100 Continue" for it. The kit's slow-body client sends Expect:
//     100-continue, and net/http answers when the handler reads the body.
//   - The client has read a byte of its answer. Then the response has begun.
//
// By client:
//
//	new connection  one request on a connection of its own
//	keep-alive      one request after the other; a request on a connection that the server
//	                closes before it is accepted was refused, as HTTP allows
//	pipelined       four requests at once; those behind the answer that ends the connection
//	                were refused
//	slow body       a body byte for byte; accepted by 100 Continue
//	slow reader     32 MiB read slowly; accepted by the first byte
//	upgraded        the connection, by 101 Switching Protocols; it must end by a goodbye of
//	                the server, with each line answered
//	HTTP/2 stream   a stream, by the headers of its answer
//	lines           each line by itself: by Endpoint.Lines, or by the first byte of its answer;
//	                a line that the server has not read when it ends the connection was refused
//
// If a connection ends without an answer to its first request, the server had accepted it if
// the kit connected to the same listener afterwards: a connection in the accept queue ends only
// when the listener closes. Result.Unaccepted counts the connections that may have ended in the
// accept queue. They are no failure, because a program without a filter in the kernel cannot
// prevent them.
//
// # Verdicts
//
//	none-lost      No accepted request is without an answer when Done is closed. What ends
//	               after Kit.Deadline is not judged.
//	none-cut       A response that has begun is read to its end.
//	clean-refusal  A refusal is a refused connection, an answer such as 503, or the close of a
//	               connection between two requests. It is no reset of a connection of lines,
//	               and no end of an accepted connection that has no answer.
//	ready-first    While the load balancer sends, no connection is refused. A probe that the
//	               server answered by "ready" promises service for Kit.Lag from when it was
//	               sent. It fails on a connection that was refused before that, and if two
//	               requests that began in the first half were refused later. It passes if a
//	               connection was made after that.
//	ended          Done is closed by Kit.Deadline.
//	nothing-left   After Done, and after the clients have closed their connections, the process
//	               has no goroutine and no descriptor that it did not have before Start. The
//	               first round is not judged: it starts goroutines that stay, such as that of
//	               os/signal. No other test may run beside.
//
// # Fairness
//
// Only the verdict ended depends on a time that a loaded machine can exceed. Where the kit
// waits, it counts its own ticks, which are late on a loaded machine. If the event that a
// verdict judges did not occur, because the machine was slow, the verdict is inconclusive: the
// kit starts more servers, and never counts the verdict as a pass. The package subjects has
// servers that pass, and a server for each mistake.
//
// The kit is for Unix systems: it recognises a refused connection by the error of these
// systems.
package draintest
