package tcp_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

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

// runChild runs the function of children in a process of its own, which has to end with ok.
func runChild(t *testing.T, name string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "EVENTIDE_TCP_CHILD="+name)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "ok\n") {
		t.Fatalf("%v\n%s", err, out)
	}
}
