// Package frame cuts a stream of bytes into messages: lines, and messages with their length
// in front. It is a few functions and two small types without goroutines or I/O, for the
// Read of a handler of core/tcp or core/blocking:
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
// and, with Messages, for any io.Reader.
//
// # Bounds
//
// Every message has a limit, and so has the memory: at most one incomplete message is kept,
// as many bytes as have arrived, whatever length was announced. A message that lies within
// one piece of input is not copied.
//
// # The end of the stream
//
// A message is complete with its last byte. What is kept when the stream ends is no message:
// End says so. A server that shuts down stops reading between two messages or inside one; a
// request that is incomplete then was not accepted.
package frame
