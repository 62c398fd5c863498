package transport

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var errReset = errors.New("connection reset")

// TestPropClosedErrorHasItsCauses: a ClosedError is the sentinel of its transport, or of core if it has none,
// the sentinel that this one wraps, its cause and what that wraps, and nothing else. It is a sentinel of a
// channel that is closing if and only if Closing is set. Its text is that of the first sentinel, and the cause.
func TestPropClosedErrorHasItsCauses(t *testing.T) {
	own := Sentinels{NewSentinel("tcp: closed", ErrChannelClosed), NewSentinel("tcp: closing", ErrChannelClosing)}
	other := Sentinels{NewSentinel("udp: closed", ErrChannelClosed), NewSentinel("udp: closing", ErrChannelClosing)}
	type closedBy struct {
		cause error
		is    []error
	}
	causes := []closedBy{{}, {io.EOF, []error{io.EOF}}, {fmt.Errorf("read: %w", errReset), []error{errReset}}, {errors.Join(io.EOF, errReset), []error{io.EOF, errReset}}}
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.SampledFrom(causes).Draw(t, "cause")
		closing := rapid.Bool().Draw(t, "closing")
		err, text := &ClosedError{Cause: by.cause, Closing: closing}, "core: channel is closed"
		want := append([]error{ErrChannelClosed}, by.is...)
		if rapid.Bool().Draw(t, "of a transport") {
			err, text = own.NewClosed(by.cause, closing), "tcp: closed"
			if want = append(want, own.Closed); closing {
				want = append(want, own.Closing)
			}
		}
		if closing {
			want = append(want, ErrChannelClosing)
		}
		if by.cause != nil {
			text += ": " + by.cause.Error()
		}
		if err.Error() != text || err.Closing != closing || err.Cause != by.cause {
			t.Fatalf("%+v has the text %q, want %q", err, err, text)
		}
		for _, of := range []error{ErrChannelClosed, ErrChannelClosing, ErrHandlerFailed, own.Closed, own.Closing, other.Closed, other.Closing, io.EOF, errReset} {
			if wanted := slices.Contains(want, of); errors.Is(err, of) != wanted {
				t.Fatalf("%+v: errors.Is(%v) is %v, want %v", err, of, !wanted, wanted)
			}
		}
	})
}
