package frame_test

import (
	"slices"
	"strings"
	"testing"

	"eventide/core/frame"
)

// TestNegativeLimits: they are the defaults, and Append changes nothing.
func TestNegativeLimits(t *testing.T) {
	lines, lengths := &frame.Lines{Limit: -1}, &frame.Lengths{Limit: -1}
	long := strings.Repeat("x", frame.DefaultLineLimit)
	if got, err := cutAll(lines, long+"\n"); len(got) != 1 || got[0] != long || err != nil {
		t.Errorf("got %d lines, %v, want one of %d bytes", len(got), err, len(long))
	}
	out, err := lengths.Append(nil, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := cutAll(lengths, string(out)); !slices.Equal(got, []string{"one"}) || err != nil || lengths.Limit != -1 {
		t.Errorf("got %q, %v, limit %d, want one and the limit as it was", got, err, lengths.Limit)
	}
	if _, err := lengths.Append(nil, make([]byte, frame.DefaultLengthLimit+1)); err == nil {
		t.Error("a message beyond the default limit was accepted, want an error")
	}
}

// TestNothingIsBufferedAtATooLongLine: when Feed yields the error, the bytes of the line are gone.
func TestNothingIsBufferedAtATooLongLine(t *testing.T) {
	lines := &frame.Lines{Limit: 4}
	for range lines.Feed([]byte("123")) {
		t.Fatal("a line without its end was yielded")
	}
	if n := lines.Buffered(); n != 3 {
		t.Fatalf("%d bytes are buffered, want the 3 of the line", n)
	}
	for _, err := range lines.Feed([]byte("456789")) {
		if n := lines.Buffered(); err == nil || n != 0 {
			t.Errorf("%d bytes are buffered in the iteration with the error %v, want none and an error", n, err)
		}
	}
}
