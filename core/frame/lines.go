package frame

import (
	"bytes"
	"io"
	"iter"
)

// DefaultLineLimit is the limit of Lines that set none.
const DefaultLineLimit = 64 << 10

// mostKeptCapacity bounds the buffer that is kept for the next incomplete message, so that
// one long message does not cost its memory for the life of an idle connection.
const mostKeptCapacity = 4 << 10

// Lines cuts a stream into lines, which end with "\n" or "\r\n". The zero value is ready. One
// goroutine at a time may use it: that of the stream.
type Lines struct {
	// Limit is the most bytes of a line, without its end. 0: DefaultLineLimit.
	Limit int

	rest     []byte // of earlier calls; rest[from:] is to be cut
	from     int
	searched int // rest[from:searched] has no "\n"
	err      error
}

// Feed takes the next bytes of the stream, and yields each line that is complete with them,
// without its end. A line is valid until the loop goes on; it lies in p, or in l if it began
// in an earlier call. What is left after the last line is copied: p may be reused when the
// loop is over.
//
// A line beyond the limit is yielded as a nil line with a *TooLongError, which ends the loop
// and is yielded again by every later call. After a break the lines that were not yielded
// are kept, and Feed(nil) yields them. Feed must not be called inside the loop.
func (l *Lines) Feed(p []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for l.err == nil {
			line, found := l.next(&p)
			if !found {
				l.keep(p)
				p = nil
				break
			}
			line = bytes.TrimSuffix(line, []byte{'\r'})
			if len(line) > l.limit() {
				l.err = &TooLongError{"line", l.limit(), uint64(len(line)), false}
				break
			}
			if !yield(line, nil) {
				l.append(p)
				return
			}
		}
		if l.err != nil {
			l.rest, l.from = nil, 0
			yield(nil, l.err)
		}
	}
}

// next takes the next line, without its "\n", from what is kept and from *p.
func (l *Lines) next(p *[]byte) (line []byte, found bool) {
	if i := bytes.IndexByte(l.rest[l.searched:], '\n'); i >= 0 {
		line = l.rest[l.from : l.searched+i]
		l.searched += i + 1
		l.from = l.searched
		return line, true
	}
	l.searched = len(l.rest)
	i := bytes.IndexByte(*p, '\n')
	if i < 0 {
		return nil, false
	}
	line = (*p)[:i]
	if l.from < len(l.rest) { // the line began in an earlier call
		if n := len(l.rest) - l.from + i; n > l.limit()+1 { // it is too long, with a "\r" too
			l.err = &TooLongError{"line", l.limit(), uint64(n), false}
			return nil, false
		}
		l.rest = append(l.rest, line...)
		line = l.rest[l.from:]
	}
	*p = (*p)[i+1:]
	l.searched = len(l.rest)
	l.from = l.searched
	return line, true
}

// keep keeps p, which has no "\n", unless the line is beyond the limit by now.
func (l *Lines) keep(p []byte) {
	if l.err != nil {
		return
	}
	n := len(l.rest) - l.from + len(p)
	last := byte(0) // a "\r" may be half of the end
	if len(p) > 0 {
		last = p[len(p)-1]
	} else if n > 0 {
		last = l.rest[len(l.rest)-1]
	}
	if n > l.limit()+1 || n == l.limit()+1 && last != '\r' {
		l.err = &TooLongError{"line", l.limit(), uint64(n), true}
		return
	}
	l.append(p)
	l.searched = len(l.rest)
}

// append adds p to what is kept, and gives back what was cut.
func (l *Lines) append(p []byte) {
	l.rest, l.searched = compact(l.rest, l.from), l.searched-l.from
	l.from = 0
	l.rest = append(l.rest, p...)
}

// compact drops the first from bytes of rest, and the buffer if it is empty and large.
func compact(rest []byte, from int) []byte {
	left := copy(rest, rest[from:])
	if left == 0 && cap(rest) > mostKeptCapacity {
		return nil
	}
	return rest[:left]
}

func (l *Lines) limit() int {
	if l.Limit > 0 {
		return l.Limit
	}
	return DefaultLineLimit
}

// Buffered returns how many bytes are kept for the next call of Feed.
func (l *Lines) Buffered() int { return len(l.rest) - l.from }

// End says what the end of the stream means: nil between two lines, io.ErrUnexpectedEOF
// inside a line, and the error that Feed has yielded.
func (l *Lines) End() error { return end(l.err, l.Buffered()) }

func end(err error, buffered int) error {
	if err == nil && buffered > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// AppendLine appends line and "\n" to dst. A "\n" inside line makes it two lines.
func AppendLine(dst, line []byte) []byte { return append(append(dst, line...), '\n') }
