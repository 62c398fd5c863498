package frame_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"reflect"
	"testing"
	"unsafe"

	"eventide/core/frame"

	"pgregory.net/rapid"
)

func init() {
	// A mechanical mutant must not be found by what another one has left behind.
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "3s"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}

// cutter is what Lines and Lengths have in common.
type cutter interface {
	frame.Cutter
	Buffered() int
	Capacity() int
}

// decoder specifies a cutter: all bytes that are not cut yet, and a function that cuts the first
// message of them.
type decoder struct {
	rest []byte
	err  error
	// first returns the first message of rest and how many bytes it takes with its frame, or 0; or
	// the error of the stream.
	first func(rest []byte) (message []byte, size int, err error)
}

// next returns the next message, or the error, which stays.
func (d *decoder) next() (message []byte, found bool, err error) {
	if d.err != nil {
		return nil, false, d.err
	}
	message, size, err := d.first(d.rest)
	if err != nil {
		d.rest, d.err = nil, err
		return nil, false, err
	}
	d.rest = d.rest[size:]
	return message, size > 0, nil
}

// end specifies End.
func (d *decoder) end() error {
	if d.err == nil && len(d.rest) > 0 {
		return io.ErrUnexpectedEOF
	}
	return d.err
}

// lineDecoder specifies Lines: a limit of 0 or less is 64 KiB.
func lineDecoder(limit int) *decoder {
	if limit <= 0 {
		limit = 64 << 10
	}
	return &decoder{first: func(rest []byte) ([]byte, int, error) {
		line, _, whole := bytes.Cut(rest, []byte("\n"))
		size := len(line) + 1
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) > limit {
			return nil, 0, &frame.TooLongError{What: "line", Limit: limit, Got: uint64(len(line)), More: !whole}
		}
		if !whole {
			return nil, 0, nil
		}
		return line, size, nil
	}}
}

// lengthDecoder specifies Lengths: a limit of 0 or less is 1 MiB, a size of 0 is 4.
func lengthDecoder(l frame.Lengths) *decoder {
	limit := l.Limit
	if limit <= 0 {
		limit = 1 << 20
	}
	size := l.Size
	if size == 0 {
		size = 4
	}
	return &decoder{first: func(rest []byte) ([]byte, int, error) {
		if size != 1 && size != 2 && size != 4 && size != 8 {
			return nil, 0, fmt.Errorf("frame: Size is %d, want 1, 2, 4 or 8", l.Size)
		}
		if len(rest) < size {
			return nil, 0, nil
		}
		length := prefixed(rest[:size], l.LittleEndian)
		switch {
		case length > uint64(limit):
			return nil, 0, &frame.TooLongError{What: "message", Limit: limit, Got: length}
		case uint64(len(rest)-size) < length:
			return nil, 0, nil
		}
		return rest[size : size+int(length)], size + int(length), nil
	}}
}

// prefixed returns the length that a prefix expresses.
func prefixed(prefix []byte, little bool) uint64 {
	whole := make([]byte, 8)
	if little {
		copy(whole, prefix)
		return binary.LittleEndian.Uint64(whole)
	}
	copy(whole[8-len(prefix):], prefix)
	return binary.BigEndian.Uint64(whole)
}

// drawn is a cutter with its specification, and a generator of streams in which it finds something.
type drawn struct {
	cutter cutter
	spec   *decoder
	piece  *rapid.Generator[[]byte]
}

func drawCutter(t *rapid.T) drawn {
	limit := rapid.SampledFrom([]int{-1, 0, 1, 2, 3, 5, 12}).Draw(t, "limit")
	if rapid.Bool().Draw(t, "lines") {
		return drawn{&frame.Lines{Limit: limit}, lineDecoder(limit), pieces(limit, 64<<10, []byte("\n"), []byte("\r\n"), []byte("\r"), []byte("ab"))}
	}
	l := frame.Lengths{
		Limit: limit, Size: rapid.SampledFrom([]int{0, 1, 2, 4, 8, 1, 2, 4, 8, 3, -1, 16}).Draw(t, "size"),
		LittleEndian: rapid.Bool().Draw(t, "little endian"),
	}
	var prefixes [][]byte
	for _, n := range []uint64{0, 1, 2, 3, 4, 11, 12, 13, 255, 256, 1 << 20, 1<<20 + 1, math.MaxInt64, math.MaxUint64} {
		prefixes = append(prefixes, prefix(l, n))
	}
	return drawn{&l, lengthDecoder(l), pieces(limit, 1<<20, prefixes...)}
}

// prefix returns n as a length prefix, as far as it fits.
func prefix(l frame.Lengths, n uint64) []byte {
	size := l.Size
	if size <= 0 || size > 8 {
		size = 4
	}
	if l.LittleEndian {
		return binary.LittleEndian.AppendUint64(nil, n)[:size]
	}
	return binary.BigEndian.AppendUint64(nil, n)[8-size:]
}

// pieces generates parts of a stream: some that mean something to the cutter, and bytes of a message;
// rarely as many as a buffer may keep, or the default limit allows.
func pieces(limit, otherwise int, known ...[]byte) *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		var p []byte
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			if rapid.Bool().Draw(t, "known") {
				p = append(p, rapid.SampledFrom(known).Draw(t, "part")...)
				continue
			}
			n := rapid.IntRange(0, 7).Draw(t, "bytes")
			if limit <= 0 && rapid.IntRange(0, 7).Draw(t, "many") == 0 {
				n = rapid.SampledFrom([]int{frame.MostKeptCapacity, otherwise}).Draw(t, "limit") + rapid.IntRange(-2, 2).Draw(t, "around the limit")
			}
			p = append(p, bytes.Repeat([]byte{'x'}, n)...)
		}
		return p
	})
}

// sameError reports whether two errors of a stream are equal, and say the same.
func sameError(a, b error) bool {
	return reflect.DeepEqual(a, b) && (a == nil || a.Error() == b.Error() && a.Error() == sayTooLong(a))
}

// sayTooLong is the text of an error of a cutter.
func sayTooLong(err error) string {
	var e *frame.TooLongError
	if !errors.As(err, &e) {
		return err.Error()
	}
	if e.More {
		return fmt.Sprintf("frame: %s of at least %d bytes, want at most %d", e.What, e.Got, e.Limit)
	}
	return fmt.Sprintf("frame: %s of %d bytes, want at most %d", e.What, e.Got, e.Limit)
}

// inside reports whether a message is a part of p.
func inside(message, p []byte) bool {
	if len(message) == 0 || len(p) == 0 {
		return false
	}
	at := uintptr(unsafe.Pointer(&message[0]))
	return at >= uintptr(unsafe.Pointer(&p[0])) && at <= uintptr(unsafe.Pointer(&p[len(p)-1]))
}

// TestPropFeed: whatever the pieces of a stream are, and wherever a loop ends early, a cutter yields
// what its specification says, message by message, with the same errors; it keeps as many bytes as
// are left, also inside the loop, and no large buffer that is empty; and a message that lies within one
// piece is not copied.
func TestPropFeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(1, 10).Draw(t, "streams") {
			d := drawCutter(t)
			for _, p := range rapid.SliceOfN(d.piece, 0, 12).Draw(t, "pieces") {
				d.feed(t, p, rapid.SampledFrom([]int{-1, -1, -1, 1, 2}).Draw(t, "most"))
			}
			d.feed(t, nil, -1)
		}
	})
}

// feed feeds a piece and ends the loop after most messages, if most is not negative.
func (d drawn) feed(t *rapid.T, p []byte, most int) {
	before := len(d.spec.rest)
	if d.spec.err == nil {
		d.spec.rest = append(bytes.Clone(d.spec.rest), p...)
	}
	whole := len(d.spec.rest)
	piece, n, failed := bytes.Clone(p), 0, false
	for message, err := range d.cutter.Feed(piece) {
		if failed {
			t.Fatalf("an iteration follows that with an error")
		}
		at := whole - len(d.spec.rest)
		want, found, wantErr := d.spec.next()
		if !sameError(err, wantErr) || !found && wantErr == nil {
			t.Fatalf("got %q and the error %v, want %q, found %v, and %v", message, err, want, found, wantErr)
		}
		if !bytes.Equal(message, want) || err != nil && message != nil {
			t.Fatalf("got %q, want %q", message, want)
		}
		if err == nil && len(message) > 0 && inside(message, piece) != (at >= before) {
			t.Fatalf("the message %q began before this piece: %v, and it is a part of the piece: %v", message, at < before, inside(message, piece))
		}
		if got, want := d.cutter.Buffered(), max(0, len(d.spec.rest)+before-whole); err == nil && got != want {
			t.Fatalf("inside the loop %d bytes of earlier pieces are left, want %d", got, want)
		}
		failed = err != nil
		if n++; n == most {
			break
		}
	}
	clear(piece) // what is left of it is a copy
	if n != most && !failed {
		if want, found, err := d.spec.next(); found || err != nil {
			t.Fatalf("the loop has ended, and the next message is %q, with the error %v", want, err)
		}
	}
	if got, want := d.cutter.Buffered(), len(d.spec.rest); got != want {
		t.Fatalf("%d bytes are kept, want %d", got, want)
	}
	if n := d.cutter.Capacity(); len(d.spec.rest) == 0 && n > frame.MostKeptCapacity {
		t.Fatalf("a buffer of %d bytes is kept, and is empty", n)
	}
	if got, want := d.cutter.End(), d.spec.end(); !sameError(got, want) {
		t.Fatalf("the end is %v, want %v", got, want)
	}
}

// scripted is a reader that returns a stream in pieces, and then an error, with its last piece or
// after it.
type scripted struct {
	pieces [][]byte
	err    error
	with   bool
}

func (s *scripted) Read(p []byte) (int, error) {
	if len(s.pieces) == 0 {
		return 0, s.err
	}
	n := copy(p, s.pieces[0])
	if s.pieces[0] = s.pieces[0][n:]; len(s.pieces[0]) == 0 {
		s.pieces = s.pieces[1:]
	}
	if len(s.pieces) == 0 && s.with {
		return n, s.err
	}
	return n, nil
}

// TestPropMessages: whatever pieces a reader returns, and however it ends, Messages yields the
// messages of the stream and then the error of the cutter, of the reader, or of a stream that ends
// inside a message; loops that end early continue where they were.
func TestPropMessages(t *testing.T) {
	broken := errors.New("broken")
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(1, 10).Draw(t, "streams") {
			d := drawCutter(t)
			r := &scripted{
				pieces: rapid.SliceOfN(d.piece, 0, 8).Draw(t, "pieces"), with: rapid.Bool().Draw(t, "the error comes with bytes"),
				err: rapid.SampledFrom([]error{io.EOF, io.EOF, broken}).Draw(t, "error"),
			}
			d.spec.rest = bytes.Join(r.pieces, nil)
			most := rapid.SampledFrom([]int{-1, -1, 1, 3}).Draw(t, "most")
			d.messages(t, r, most)
		}
	})
}

// messages reads a stream, with loops of most messages each, if most is not negative.
func (d drawn) messages(t *rapid.T, r *scripted, most int) {
	failed := false
	for ended := false; !ended; {
		ended = true
		n := 0
		for message, err := range frame.Messages(r, d.cutter) {
			want, found, wantErr := d.spec.next()
			if !found && wantErr == nil {
				wantErr = d.last(r)
			}
			wantErr = cutShort(err, wantErr)
			if !sameError(err, wantErr) || (err == nil) != found || !bytes.Equal(message, want) || err != nil && message != nil || failed {
				t.Fatalf("got %q and %v, want %q and %v; an error came before: %v", message, err, want, wantErr, failed)
			}
			failed = err != nil
			if n++; n == most && !failed {
				ended = false
				break
			}
		}
	}
	if _, found, err := d.spec.next(); found || !failed && (err != nil || d.last(r) != nil) {
		t.Fatalf("the loop has ended without an error: %v; more follows: %v, with the error %v or %v", !failed, found, err, d.last(r))
	}
}

// last is the error after the last message: that of the reader, or of a stream that ends now.
func (d drawn) last(r *scripted) error {
	if r.err == io.EOF {
		return d.spec.end()
	}
	return r.err
}

// cutShort returns the error that the decoder of a whole stream wants where a cutter, which sees the
// stream in pieces, finds a line too long before its end has arrived: such an error is right about
// fewer bytes.
func cutShort(got, want error) error {
	var early, late *frame.TooLongError
	if errors.As(got, &early) && errors.As(want, &late) && early.More && early.Got > uint64(early.Limit) && early.Got <= late.Got && early.Limit == late.Limit && early.What == late.What {
		return got
	}
	return want
}

// TestPropAppend: Append and AppendLine add what the specification decodes to the message, and nothing
// else; a message that is too long, or that the prefix cannot express, is refused.
func TestPropAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := frame.Lengths{
			Limit: rapid.SampledFrom([]int{-1, 0, 1, 2, 255, 256, 300, 65_535, 65_536, 70_000, 1 << 20}).Draw(t, "limit"),
			Size:  rapid.SampledFrom([]int{0, 1, 2, 4, 8, 3, -1, 16}).Draw(t, "size"), LittleEndian: rapid.Bool().Draw(t, "little endian"),
		}
		dst := rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "dst")
		message := bytes.Repeat([]byte{'m'}, rapid.SampledFrom([]int{0, 1, 2, 3, 254, 255, 256, 299, 300, 301, 65_535, 65_536, 1 << 20, 1<<20 + 1}).Draw(t, "length"))
		limit := uint64(1 << 20)
		if l.Limit > 0 {
			limit = uint64(l.Limit)
		}
		size := map[int]int{0: 4, 1: 1, 2: 2, 4: 4, 8: 8}[l.Size]
		if size == 1 || size == 2 {
			limit = min(limit, 1<<(8*size)-1)
		}
		was := l
		got, err := l.Append(bytes.Clone(dst), message)
		want, wantErr := bytes.Clone(dst), error(nil)
		switch {
		case size == 0:
			wantErr = fmt.Errorf("frame: Size is %d, want 1, 2, 4 or 8", l.Size)
		case uint64(len(message)) > limit:
			wantErr = &frame.TooLongError{What: "message", Limit: int(limit), Got: uint64(len(message))}
		default:
			want = append(append(want, prefix(l, uint64(len(message)))...), message...)
		}
		if !bytes.Equal(got, want) || !sameError(err, wantErr) || !reflect.DeepEqual(l, was) {
			t.Fatalf("Append of %d bytes to %q returns %d bytes and %v, want %d and %v", len(message), dst, len(got), err, len(want), wantErr)
		}
		if line := frame.AppendLine(bytes.Clone(dst), message); !bytes.Equal(line, append(append(bytes.Clone(dst), message...), '\n')) {
			t.Fatalf("AppendLine of %d bytes to %q returns %d bytes", len(message), dst, len(line))
		}
	})
}
