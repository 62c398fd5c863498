package frame

import (
	"bytes"
	"io"
	"iter"
)

// DefaultLineLimit is the limit of a Lines whose Limit is 0, in bytes.
const DefaultLineLimit = 64 << 10

// mostKeptCapacity bounds the buffer that is kept while it is empty, in bytes: an idle
// connection does not retain the memory of one long message.
const mostKeptCapacity = 4 << 10

// Lines cuts a stream into lines that end with "\n" or "\r\n". The zero value is ready to
// use. Its methods must not be called concurrently.
type Lines struct {
	// Limit is the maximum size of a line in bytes, without its end. 0 or less means
	// DefaultLineLimit.
	Limit int

	rest     []byte // of earlier calls; rest[from:] is not cut yet
	from     int
	searched int // rest[from:searched] has no "\n"
	err      error
}

// Feed takes the next bytes of the stream, and yields each line that they complete,
// without its end. A line is valid until the next iteration: it is a part of p, or of the
// buffer of l if it began in an earlier call. Bytes after the last line are copied, so the
// caller may reuse p after the loop.
//
// A line that exceeds the limit is yielded as a nil line with a *TooLongError, which ends
// the loop; every later call yields the error again. If the loop body breaks, the lines not
// yielded stay buffered, and Feed(nil) yields them. Feed must not be called inside the loop.
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

// next takes the next line, without its "\n", from the buffered bytes and from *p.
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
		l.rest = append(l.rest, line...)
		line = l.rest[l.from:]
	}
	*p = (*p)[i+1:]
	l.searched = len(l.rest)
	l.from = l.searched
	return line, true
}

// keep buffers p, which has no "\n", unless the line exceeds the limit already.
func (l *Lines) keep(p []byte) {
	if n := l.size(p); n > l.limit() {
		l.err = &TooLongError{"line", l.limit(), uint64(n), true}
		return
	}
	l.append(p)
	l.searched = len(l.rest)
}

// size returns the size of a line that consists of the buffered bytes and p. A "\r" behind them
// does not count: it may belong to the end of the line.
func (l *Lines) size(p []byte) int {
	n := len(l.rest) - l.from + len(p)
	last := byte(0)
	switch {
	case len(p) > 0:
		last = p[len(p)-1]
	case n > 0:
		last = l.rest[len(l.rest)-1]
	}
	if last == '\r' {
		n--
	}
	return n
}

// append adds p to the buffered bytes, and releases the bytes that were cut.
func (l *Lines) append(p []byte) {
	l.rest, l.searched = compact(l.rest, l.from), l.searched-l.from
	l.from = 0
	l.rest = append(l.rest, p...)
}

// compact removes the first from bytes of rest, and releases a large buffer that is empty.
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

// Buffered returns how many bytes are buffered for the next call of Feed.
func (l *Lines) Buffered() int { return len(l.rest) - l.from }

// End returns the error of a stream that ends now: nil between two lines,
// io.ErrUnexpectedEOF inside a line, or the error that Feed has yielded.
func (l *Lines) End() error { return end(l.err, l.Buffered()) }

func end(err error, buffered int) error {
	if err == nil && buffered > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// AppendLine appends line and "\n" to dst. A "\n" inside line makes it two lines.
func AppendLine(dst, line []byte) []byte { return append(append(dst, line...), '\n') }
