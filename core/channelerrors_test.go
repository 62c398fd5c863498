package core_test

import (
	"errors"
	"io"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// A ClosedError is ErrChannelClosed, its cause, and ErrChannelClosing if Closing is set.
func TestClosedErrorHasItsCauses(t *testing.T) {
	for _, tt := range []struct {
		err     core.ClosedError
		eof     bool
		closing bool
		text    string
	}{
		{core.ClosedError{}, false, false, "core: channel is closed"},
		{core.ClosedError{Cause: io.EOF}, true, false, "core: channel is closed: EOF"},
		{core.ClosedError{Closing: true}, false, true, "core: channel is closed"},
		{core.ClosedError{Cause: io.EOF, Closing: true}, true, true, "core: channel is closed: EOF"},
	} {
		err := error(&tt.err)
		if !errors.Is(err, core.ErrChannelClosed) || errors.Is(err, io.EOF) != tt.eof || errors.Is(err, core.ErrChannelClosing) != tt.closing {
			t.Errorf("%+v is %v, ErrChannelClosed %v, EOF %v, ErrChannelClosing %v", tt.err, err,
				errors.Is(err, core.ErrChannelClosed), errors.Is(err, io.EOF), errors.Is(err, core.ErrChannelClosing))
		}
		coretest.WantText(t, "text", err, tt.text)
	}
}
