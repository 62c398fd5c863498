package frame

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
)

// DefaultLengthLimit is the limit of a Lengths whose Limit is 0, in bytes.
const DefaultLengthLimit = 1 << 20

// Lengths cuts a stream into messages with a length prefix: an unsigned integer that
// does not include its own size. The zero value is ready to use: 4 bytes, big endian, at
// most 1 MiB. Feed, Buffered and End must not be called concurrently; Append may be.
type Lengths struct {
	// Size is the number of bytes of the length prefix: 1, 2, 4 or 8. 0 means 4.
	Size int

	// LittleEndian says that the least significant byte of the length comes first.
	LittleEndian bool

	// Limit is the maximum size of a message in bytes, without its length prefix. 0 or less
	// means DefaultLengthLimit.
	Limit int

	rest []byte // of earlier calls; rest[from:] is not cut yet
	from int
	err  error
}

// Feed takes the next bytes of the stream, and yields each message that they complete,
// without its length prefix. It is otherwise like Lines.Feed. A message that exceeds the
// limit is refused as soon as its length has arrived. For an invalid Size it yields an error.
func (l *Lengths) Feed(p []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if l.err == nil && !l.sizeIsValid() {
			l.err = fmt.Errorf("frame: Size is %d, want 1, 2, 4 or 8", l.Size)
		}
		for l.err == nil {
			message, found := l.next(&p)
			if !found {
				break
			}
			if !yield(message, nil) {
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

// next takes the next message from the buffered bytes and from *p. If there is none, either
// all of *p is buffered now, or l.err is set because the length exceeds the limit.
func (l *Lengths) next(p *[]byte) (message []byte, found bool) {
	if l.from < len(l.rest) {
		if message, found = l.cut(l.rest[l.from:]); found {
			l.from += l.size() + len(message)
			return message, true
		}
		if l.err != nil {
			return nil, false
		}
		// Copy only the bytes of *p that complete this message: those of its length first.
		l.take(p, l.size())
		if length, ok := l.length(l.rest[l.from:]); ok && l.fits(length) {
			l.take(p, l.size()+int(length))
		}
		if message, found = l.cut(l.rest[l.from:]); found {
			l.from = len(l.rest)
		}
		return message, found
	}
	if message, found = l.cut(*p); found {
		*p = (*p)[l.size()+len(message):]
		return message, true
	}
	if l.err == nil {
		l.append(*p)
		*p = nil
	}
	return nil, false
}

// take moves bytes from *p to the buffered ones, until those are size bytes.
func (l *Lengths) take(p *[]byte, size int) {
	n := min(len(*p), max(0, size-(len(l.rest)-l.from)))
	l.append((*p)[:n])
	*p = (*p)[n:]
}

// cut returns the first message of data, if it is complete.
func (l *Lengths) cut(data []byte) (message []byte, found bool) {
	length, ok := l.length(data)
	if !ok {
		return nil, false
	}
	if !l.fits(length) {
		l.err = &TooLongError{"message", l.limit(), length, false}
		return nil, false
	}
	data = data[l.size():]
	if uint64(len(data)) < length {
		return nil, false
	}
	return data[:length], true
}

// length returns the length in front of data, if it is complete.
func (l *Lengths) length(data []byte) (length uint64, ok bool) {
	if len(data) < l.size() {
		return 0, false
	}
	for i := range l.size() {
		if l.LittleEndian {
			length |= uint64(data[i]) << (8 * i)
		} else {
			length = length<<8 | uint64(data[i])
		}
	}
	return length, true
}

func (l *Lengths) fits(length uint64) bool { return length <= uint64(l.limit()) }

// append adds p to the buffered bytes, and releases the bytes that were cut.
func (l *Lengths) append(p []byte) {
	l.rest = compact(l.rest, l.from)
	l.from = 0
	l.rest = append(l.rest, p...)
}

func (l *Lengths) size() int {
	if l.Size == 0 {
		return 4
	}
	return l.Size
}

func (l *Lengths) sizeIsValid() bool {
	switch l.size() {
	case 1, 2, 4, 8:
		return true
	}
	return false
}

func (l *Lengths) limit() int {
	if l.Limit > 0 {
		return l.Limit
	}
	return DefaultLengthLimit
}

// Buffered returns how many bytes are buffered for the next call of Feed.
func (l *Lengths) Buffered() int { return len(l.rest) - l.from }

// End returns the error of a stream that ends now: nil between two messages,
// io.ErrUnexpectedEOF inside a message, or the error that Feed has yielded.
func (l *Lengths) End() error { return end(l.err, l.Buffered()) }

// Append appends the length prefix and message to dst. If message is longer than Limit, or
// than Size bytes can express, it returns dst unchanged and a *TooLongError. Append does not
// change l, so any goroutine may call it.
func (l *Lengths) Append(dst, message []byte) ([]byte, error) {
	if !l.sizeIsValid() {
		return dst, fmt.Errorf("frame: Size is %d, want 1, 2, 4 or 8", l.Size)
	}
	most := uint64(l.limit())
	if l.size() < 8 {
		most = min(most, 1<<(8*l.size())-1)
	}
	if uint64(len(message)) > most {
		return dst, &TooLongError{"message", int(min(most, math.MaxInt)), uint64(len(message)), false}
	}
	var length [8]byte
	if l.LittleEndian {
		binary.LittleEndian.PutUint64(length[:], uint64(len(message)))
		dst = append(dst, length[:l.size()]...)
	} else {
		binary.BigEndian.PutUint64(length[:], uint64(len(message)))
		dst = append(dst, length[8-l.size():]...)
	}
	return append(dst, message...), nil
}
