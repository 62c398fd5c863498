package frame

import "fmt"

// TooLongError is a message beyond the limit. The stream cannot be read any further.
type TooLongError struct {
	What  string // "line" or "message"
	Limit int    // most bytes of a message
	Got   uint64 // bytes of this one
	More  bool   // the end has not arrived: the message is longer than Got
}

func (e *TooLongError) Error() string {
	more := ""
	if e.More {
		more = "at least "
	}
	return fmt.Sprintf("frame: %s of %s%d bytes, want at most %d", e.What, more, e.Got, e.Limit)
}
