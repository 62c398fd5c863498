package frame

import "fmt"

// TooLongError is the error of a message that exceeds the limit. The rest of the stream
// cannot be cut.
type TooLongError struct {
	What  string // "line" or "message"
	Limit int    // maximum size of a message, in bytes
	Got   uint64 // size of this one, in bytes
	More  bool   // its end has not arrived: the message is at least Got bytes
}

func (e *TooLongError) Error() string {
	more := ""
	if e.More {
		more = "at least "
	}
	return fmt.Sprintf("frame: %s of %s%d bytes, want at most %d", e.What, more, e.Got, e.Limit)
}
