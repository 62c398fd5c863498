package frame

import (
	"errors"
	"io"
	"iter"
)

// Cutter cuts a stream into messages. *Lines and *Lengths are Cutters.
type Cutter interface {
	// Feed takes the next bytes of the stream, and yields the messages that they complete.
	Feed(p []byte) iter.Seq2[[]byte, error]

	// End returns the error of a stream that ends now, or nil.
	End() error
}

// Messages yields the messages of r as cut by c. Each is valid until the next iteration. The
// last iteration yields a nil message and the error: that of c, that of r, or
// io.ErrUnexpectedEOF if r ends inside a message. If r ends between two messages, the loop
// ends without an error. If r or c is nil, the only iteration has an error. Messages reads 32 KiB at
// a time, and does not read again before it has yielded the messages of the last bytes.
//
// If the loop body breaks, c keeps the messages that were not yielded, and a later call of
// Messages with the same c continues with them.
func Messages(r io.Reader, c Cutter) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		switch {
		case r == nil:
			yield(nil, errors.New("frame: Messages: the reader is nil, want one"))
			return
		case c == nil:
			yield(nil, errors.New("frame: Messages: the cutter is nil, want *Lines or *Lengths"))
			return
		}
		var p []byte
		for buf := make([]byte, 32<<10); ; {
			for message, err := range c.Feed(p) {
				if !yield(message, err) || err != nil {
					return
				}
			}
			n, err := r.Read(buf)
			p = buf[:n]
			if err == nil {
				continue
			}
			for message, err := range c.Feed(p) {
				if !yield(message, err) || err != nil {
					return
				}
			}
			if err == io.EOF {
				err = c.End()
			}
			if err != nil {
				yield(nil, err)
			}
			return
		}
	}
}
