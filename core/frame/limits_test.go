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
