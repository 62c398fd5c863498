package frame

import (
	"io"
	"iter"
)

// Cutter cuts a stream into messages. *Lines and *Lengths are Cutters.
type Cutter interface {
	// Feed takes the next bytes, and yields the messages that are complete with them.
	Feed(p []byte) iter.Seq2[[]byte, error]

	// End says what the end of the stream means.
	End() error
}

// Messages yields the messages of r as c cuts it, each valid until the loop goes on. An
// error is yielded last, with a nil message: that of c, that of r, or io.ErrUnexpectedEOF if
// r ends inside a message. After the end of r between two messages the loop is over.
//
// After a break c keeps the messages that were not yielded, and a later Messages with the
// same c goes on with them.
func Messages(r io.Reader, c Cutter) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
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
