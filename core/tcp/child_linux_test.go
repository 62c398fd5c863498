package tcp_test

import "os"

// children are the programs that the test binary can be re-executed as.
var children = map[string]func(){}

// runAsChild runs the part of a test that needs a process of its own.
func runAsChild() bool {
	child := children[os.Getenv("EVENTIDE_TCP_CHILD")]
	if child != nil {
		child()
	}
	return child != nil
}
