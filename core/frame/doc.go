// Package frame cuts a stream of bytes into messages: lines, and messages with a length
// prefix. It has no goroutines and does no I/O. Use it in the Read method of a handler of
// core/tcp or core/blocking:
//
//	type handler struct {
//		tcp.HandlerBase
//		lines frame.Lines
//	}
//
//	func (h *handler) Read(ch *tcp.Channel, p []byte) {
//		for line, err := range h.lines.Feed(p) {
//			if err != nil { // a *TooLongError
//				ch.Close()
//				return
//			}
//			ch.Write(frame.AppendLine(nil, answer(line)))
//		}
//	}
//
// Messages does the same for any io.Reader.
//
// # Bounds
//
// Every message has a size limit, and so has the memory: at most one incomplete message is
// buffered, and only the bytes that have arrived, whatever its length prefix announces. A
// message that lies within one argument of Feed is not copied.
//
// # The end of the stream
//
// A message is yielded when its last byte has arrived. Bytes that are still buffered when
// the stream ends are an incomplete message: End reports it. A server that shuts down stops
// reading between two messages or inside one; an incomplete request was not accepted.
package frame
