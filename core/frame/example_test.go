package frame_test

import (
	"encoding/binary"
	"fmt"
	"strings"

	"eventide/core/frame"
)

// The bytes of a stream arrive in pieces; a line is yielded when its end has arrived.
func ExampleLines() {
	var lines frame.Lines
	for _, piece := range []string{"GET a\nGE", "T b\r\nGET"} {
		for line, err := range lines.Feed([]byte(piece)) {
			fmt.Printf("%q %v\n", line, err)
		}
	}
	fmt.Println(lines.End()) // the stream ends here
	// Output:
	// "GET a" <nil>
	// "GET b" <nil>
	// unexpected EOF
}

// The length is 2 bytes, and a message has 100 bytes at most.
func ExampleLengths() {
	lengths := frame.Lengths{Size: 2, Limit: 100}
	stream := append(binary.BigEndian.AppendUint16(nil, 5), "hello"...)
	stream = binary.BigEndian.AppendUint16(stream, 1000)
	for message, err := range lengths.Feed(stream) {
		fmt.Printf("%q %v\n", message, err)
	}
	// Output:
	// "hello" <nil>
	// "" frame: message of 1000 bytes, want at most 100
}

// Messages cuts what it reads from any reader.
func ExampleMessages() {
	for line, err := range frame.Messages(strings.NewReader("a\nb\nincomplete"), &frame.Lines{}) {
		fmt.Printf("%q %v\n", line, err)
	}
	// Output:
	// "a" <nil>
	// "b" <nil>
	// "" unexpected EOF
}

func ExampleAppendLine() {
	answer := frame.AppendLine([]byte("one\n"), []byte("two"))
	fmt.Printf("%q\n", answer)
	// Output: "one\ntwo\n"
}
