package frame_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"eventide/core/frame"
)

// cutAll feeds the pieces, and returns the messages and the error.
func cutAll(c frame.Cutter, pieces ...string) (messages []string, err error) {
	for _, p := range pieces {
		piece := []byte(p)
		for m, e := range c.Feed(piece) {
			if e != nil {
				err = e
				continue // it is the last
			}
			messages = append(messages, string(m))
		}
		clear(piece) // what is kept is a copy
	}
	return messages, err
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limit  int
		pieces []string
		want   []string
		err    string
		end    error
	}{
		{"nothing", 0, nil, nil, "", nil},
		{"one", 0, []string{"one\n"}, []string{"one"}, "", nil},
		{"several", 0, []string{"one\ntwo\r\n\n\r\nthree\n"}, []string{"one", "two", "", "", "three"}, "", nil},
		{"a return inside a line", 0, []string{"a\rb\r\r\n"}, []string{"a\rb\r"}, "", nil},
		{"in pieces", 0, []string{"o", "n", "", "e\nt", "wo\r", "\nthree", "\n"}, []string{"one", "two", "three"}, "", nil},
		{"incomplete", 0, []string{"one\ntw", "o"}, []string{"one"}, "", io.ErrUnexpectedEOF},
		{"at the limit", 3, []string{"abc\nabc\r\n", "ab", "c\nab", "c\r", "\n"}, []string{"abc", "abc", "abc", "abc"}, "", nil},
		{"beyond the limit", 3, []string{"abc\nabcde\nabc\n"}, []string{"abc"}, "frame: line of 5 bytes, want at most 3", nil},
		{"beyond the limit, in pieces", 3, []string{"abc\nab", "cde\n"}, []string{"abc"}, "frame: line of 5 bytes, want at most 3", nil},
		{"beyond the limit, without an end", 3, []string{"ab", "cd"}, nil, "frame: line of at least 4 bytes, want at most 3", nil},
		{"a return that is no end", 3, []string{"abc\r", "d\n"}, nil, "frame: line of 5 bytes, want at most 3", nil},
		{"a return beyond the limit", 3, []string{"abc\r", "\r"}, nil, "frame: line of at least 4 bytes, want at most 3", nil},
		{"the default limit", 0, []string{strings.Repeat("x", frame.DefaultLineLimit) + "\n", strings.Repeat("x", frame.DefaultLineLimit+1)},
			[]string{strings.Repeat("x", frame.DefaultLineLimit)}, "frame: line of at least 65537 bytes, want at most 65536", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &frame.Lines{Limit: tt.limit}
			check(t, l, l.Buffered, tt.pieces, tt.want, tt.err, tt.end)
		})
	}
}

func TestLengths(t *testing.T) {
	for _, tt := range []struct {
		name   string
		cutter frame.Lengths
		pieces []string
		want   []string
		err    string
		end    error
	}{
		{"nothing", frame.Lengths{}, nil, nil, "", nil},
		{"one", frame.Lengths{}, []string{"\x00\x00\x00\x03one"}, []string{"one"}, "", nil},
		{"several", frame.Lengths{Size: 1}, []string{"\x03one\x00\x03two"}, []string{"one", "", "two"}, "", nil},
		{"in pieces", frame.Lengths{Size: 2}, []string{"\x00", "\x03o", "", "ne\x00\x03t", "wo\x00\x05three\x00\x00"}, []string{"one", "two", "three", ""}, "", nil},
		{"little endian", frame.Lengths{Size: 2, LittleEndian: true}, []string{"\x03\x00one", "\x03", "\x00two"}, []string{"one", "two"}, "", nil},
		{"eight bytes", frame.Lengths{Size: 8}, []string{"\x00\x00\x00\x00\x00\x00\x00\x03one"}, []string{"one"}, "", nil},
		{"incomplete", frame.Lengths{Size: 1}, []string{"\x03one\x03tw"}, []string{"one"}, "", io.ErrUnexpectedEOF},
		{"incomplete length", frame.Lengths{}, []string{"\x00"}, nil, "", io.ErrUnexpectedEOF},
		{"at the limit", frame.Lengths{Size: 1, Limit: 3}, []string{"\x03one", "\x03", "two"}, []string{"one", "two"}, "", nil},
		{"beyond the limit", frame.Lengths{Size: 1, Limit: 3}, []string{"\x03one\x04"}, []string{"one"}, "frame: message of 4 bytes, want at most 3", nil},
		{"beyond the limit, in pieces", frame.Lengths{Size: 2, Limit: 3}, []string{"\x00", "\x04four"}, nil, "frame: message of 4 bytes, want at most 3", nil},
		{"the largest length", frame.Lengths{Size: 8}, []string{strings.Repeat("\xff", 8)}, nil, "frame: message of 18446744073709551615 bytes, want at most 1048576", nil},
		{"a wrong size", frame.Lengths{Size: 3}, []string{"\x00\x00\x00"}, nil, "frame: Size is 3, want 1, 2, 4 or 8", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := tt.cutter
			check(t, &l, l.Buffered, tt.pieces, tt.want, tt.err, tt.end)
		})
	}
}

func check(t *testing.T, c frame.Cutter, buffered func() int, pieces, want []string, wantErr string, wantEnd error) {
	t.Helper()
	got, err := cutAll(c, pieces...)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if wantErr == "" {
		if err != nil || c.End() != wantEnd {
			t.Errorf("got error %v and end %v, want nil and %v", err, c.End(), wantEnd)
		}
		if incomplete := wantEnd != nil; (buffered() > 0) != incomplete {
			t.Errorf("%d bytes are kept, incomplete is %v", buffered(), incomplete)
		}
		return
	}
	if err == nil || err.Error() != wantErr {
		t.Fatalf("got error %v, want %q", err, wantErr)
	}
	more, again := cutAll(c, "\x00\n\n")
	if len(more) != 0 || again != err || c.End() != err || buffered() != 0 {
		t.Errorf("after the error: got %q, %v, end %v, %d bytes; want the error again and nothing else", more, again, c.End(), buffered())
	}
}

// TestTooLongErrorNamesTheLimitAndTheValue for a caller that wants to answer with them.
func TestTooLongErrorNamesTheLimitAndTheValue(t *testing.T) {
	_, err := cutAll(&frame.Lengths{Size: 2, Limit: 10}, "\x00\xff")
	var e *frame.TooLongError
	if !errors.As(err, &e) || e.Limit != 10 || e.Got != 255 || e.More || e.What != "message" {
		t.Errorf("got %+v, want Limit 10 and Got 255", err)
	}
}

func TestAppendIsTheInverse(t *testing.T) {
	for _, l := range []frame.Lengths{{Size: 1}, {Size: 2}, {}, {Size: 8}, {Size: 2, LittleEndian: true}, {Size: 8, LittleEndian: true}} {
		var out []byte
		want := []string{"", "a", strings.Repeat("b", 255)}
		for _, m := range want {
			var err error
			if out, err = l.Append(out, []byte(m)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := cutAll(&l, string(out)); !slices.Equal(got, want) || err != nil {
			t.Errorf("%+v: got %q, %v; want %q", l, got, err, want)
		}
	}
	for _, tt := range []struct {
		l    frame.Lengths
		n    int
		want string
	}{
		{frame.Lengths{Size: 1}, 256, "frame: message of 256 bytes, want at most 255"},
		{frame.Lengths{Limit: 3}, 4, "frame: message of 4 bytes, want at most 3"},
		{frame.Lengths{Size: 5}, 1, "frame: Size is 5, want 1, 2, 4 or 8"},
	} {
		out, err := tt.l.Append([]byte("kept"), make([]byte, tt.n))
		if string(out) != "kept" || err == nil || err.Error() != tt.want {
			t.Errorf("%+v: got %q, %v; want %q", tt.l, out, err, tt.want)
		}
	}
	if got := string(frame.AppendLine([]byte("a\n"), []byte("b"))); got != "a\nb\n" {
		t.Errorf("AppendLine: got %q", got)
	}
}

// TestBreakKeepsTheRest: a loop that ends early loses no message, and each is yielded once.
func TestBreakKeepsTheRest(t *testing.T) {
	for _, c := range []struct {
		cutter frame.Cutter
		input  string
	}{{&frame.Lines{}, "one\ntwo\nthree\nfo"}, {&frame.Lengths{Size: 1}, "\x03one\x03two\x05three\x04fo"}} {
		var got []string
		input := []byte(c.input)
		for range 5 {
			for m, err := range c.cutter.Feed(input) {
				got = append(got, fmt.Sprint(string(m), err))
				break
			}
			clear(input)
			input = nil
		}
		if want := []string{"one<nil>", "two<nil>", "three<nil>"}; !slices.Equal(got, want) {
			t.Errorf("%T: got %q, want %q", c.cutter, got, want)
		}
		rest := "ur"
		if _, lines := c.cutter.(*frame.Lines); lines {
			rest += "\n"
		}
		if got, err := cutAll(c.cutter, rest); !slices.Equal(got, []string{"four"}) || err != nil {
			t.Errorf("%T: got %q, %v; want four", c.cutter, got, err)
		}
	}
}

// TestNoCopy: a message inside one piece of input is a part of it, and costs no allocation.
func TestNoCopy(t *testing.T) {
	lines, lengths := &frame.Lines{}, &frame.Lengths{Size: 1}
	ofLines, ofLengths := []byte("one\ntwo\nthree\n"), []byte("\x03one\x03two\x05three")
	for name, f := range map[string]func() int{
		"lines": func() (n int) {
			for m := range lines.Feed(ofLines) {
				n += len(m)
			}
			return n
		},
		"lengths": func() (n int) {
			for m := range lengths.Feed(ofLengths) {
				n += len(m)
			}
			return n
		},
	} {
		total := 0
		if n := testing.AllocsPerRun(100, func() { total += f() }); n != 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
		if total != 101*11 {
			t.Errorf("%s: %d bytes, want %d", name, total, 101*11)
		}
	}
	p := []byte("one\ntwo\n")
	for m := range lines.Feed(p) {
		m[0] = 'X'
	}
	if string(p) != "Xne\nXwo\n" {
		t.Errorf("the lines are copies: the input is %q", p)
	}
}

// TestMemoryFollowsTheInput: a length that announces much costs nothing until its bytes
// arrive, and a long message leaves nothing behind.
func TestMemoryFollowsTheInput(t *testing.T) {
	l := &frame.Lengths{Limit: 1 << 30}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = cutAll(l, "\x3f\xff\xff\xff", "x")
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 || l.Buffered() != 5 {
		t.Errorf("%d bytes allocated and %d bytes kept, want less than 1 MiB and 5", n, l.Buffered())
	}
}

// TestMessagesOfNil: one iteration with an error that names what is nil.
func TestMessagesOfNil(t *testing.T) {
	for want, messages := range map[string]iter.Seq2[[]byte, error]{
		"the reader is nil": frame.Messages(nil, &frame.Lines{}),
		"the cutter is nil": frame.Messages(strings.NewReader("one\n"), nil),
	} {
		iterations := 0
		for m, err := range messages {
			iterations++
			if m != nil || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, %v, want an error with %q", m, err, want)
			}
		}
		if iterations != 1 {
			t.Errorf("%s: %d iterations, want 1", want, iterations)
		}
	}
}

func TestMessages(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name string
		r    io.Reader
		want []string
		err  error
	}{
		{"lines", strings.NewReader("one\ntwo\n"), []string{"one", "two"}, nil},
		{"byte by byte", iotest.OneByteReader(strings.NewReader("one\ntwo\n")), []string{"one", "two"}, nil},
		{"data with the end", iotest.DataErrReader(strings.NewReader("one\ntwo\n")), []string{"one", "two"}, nil},
		{"incomplete", strings.NewReader("one\ntw"), []string{"one"}, io.ErrUnexpectedEOF},
		{"an error", io.MultiReader(strings.NewReader("one\ntw"), iotest.ErrReader(broken)), []string{"one"}, broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			var last error
			for m, err := range frame.Messages(tt.r, &frame.Lines{}) {
				if err != nil {
					last = err
					continue
				}
				got = append(got, string(m))
			}
			if !slices.Equal(got, tt.want) || last != tt.err {
				t.Errorf("got %q, %v; want %q, %v", got, last, tt.want, tt.err)
			}
		})
	}
	c := &frame.Lines{Limit: 5}
	r := strings.NewReader("one\ntwo\ntoo long\n")
	var got []string
	for range 5 {
		for m, err := range frame.Messages(r, c) {
			got = append(got, fmt.Sprint(string(m), err))
			break
		}
	}
	tooLong := "frame: line of 8 bytes, want at most 5"
	if want := []string{"one<nil>", "two<nil>", tooLong, tooLong, tooLong}; !slices.Equal(got, want) {
		t.Errorf("one message in each loop: got %q, want %q", got, want)
	}
}

// FuzzLines compares with a split of the whole: messages do not depend on the pieces.
func FuzzLines(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\nthree"), []byte{1, 3, 0, 2}, uint8(4))
	f.Add([]byte("abc\r\nabcd\r\n\r\r\n"), []byte{4, 1}, uint8(3))
	f.Fuzz(func(t *testing.T, data, cuts []byte, limit uint8) {
		l := &frame.Lines{Limit: int(limit)}
		if limit == 0 {
			limit = 255
			l.Limit = 255
		}
		parts := bytes.Split(data, []byte{'\n'})
		complete, rest := parts[:len(parts)-1], parts[len(parts)-1]
		compare(t, l, data, cuts, complete, func(m []byte) ([]byte, bool) {
			m = bytes.TrimSuffix(m, []byte{'\r'})
			return m, len(m) <= int(limit)
		}, len(bytes.TrimSuffix(rest, []byte{'\r'})) <= int(limit))
	})
}

// FuzzLengths compares with a decoder of the whole.
func FuzzLengths(f *testing.F) {
	f.Add([]byte("\x00\x03one\x00\x00\x00\x05three\x00"), []byte{1, 3, 0, 2}, uint8(1), uint8(9), false)
	f.Add([]byte("\x03one\x0a"), []byte{1}, uint8(0), uint8(9), true)
	f.Fuzz(func(t *testing.T, data, cuts []byte, size, limit uint8, little bool) {
		l := &frame.Lengths{Size: 1 << (size % 4), Limit: int(limit) + 1, LittleEndian: little}
		var complete [][]byte
		fits := true
		for rest := data; len(rest) >= l.Size; {
			var length uint64
			for i := range l.Size {
				b := rest[i]
				if little {
					b = rest[l.Size-1-i]
				}
				length = length*256 + uint64(b)
			}
			rest = rest[l.Size:]
			if length > uint64(l.Limit) {
				fits = false
				break
			}
			if uint64(len(rest)) < length {
				break
			}
			complete = append(complete, rest[:length])
			rest = rest[length:]
		}
		compare(t, l, data, cuts, complete, func(m []byte) ([]byte, bool) { return m, true }, fits)
	})
}

// compare feeds data in pieces, with a break after some messages, and compares.
func compare(t *testing.T, c frame.Cutter, data, cuts []byte, complete [][]byte, judge func([]byte) ([]byte, bool), fits bool) {
	var want []string
	for _, m := range complete {
		m, ok := judge(m)
		if !ok {
			fits = false
			break
		}
		want = append(want, string(m))
	}
	var got []string
	var last error
	feed := func(p []byte, most int) (all bool) {
		piece := bytes.Clone(p)
		defer clear(piece)
		for m, err := range c.Feed(piece) {
			if err != nil {
				last = err
				return true
			}
			got = append(got, string(m))
			if most--; most == 0 {
				return false
			}
		}
		return true
	}
	for _, cut := range cuts {
		n := min(int(cut%16), len(data))
		feed(data[:n], int(cut/16))
		data = data[n:]
	}
	for p := data; !feed(p, 2); p = nil {
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if (last == nil) != fits {
		t.Errorf("the error is %v, every message within the limit: %v", last, fits)
	}
}
