package main

import (
	"strings"
	"testing"

	"eventide/core/internal/coretest/underload"
)

func TestMain(m *testing.M) { underload.Main(m, main) }

// TestClosing runs the program: with the mistake the second connection is gone. What core logs of
// the refused write goes to standard error, and may come at any moment.
func TestClosing(t *testing.T) {
	var logged strings.Builder
	cmd := underload.Command(t.Context())
	cmd.Stderr = &logged
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, logged.String())
	}
	wrong, right, ok := strings.Cut(string(out), "right: close the channel\n")
	if !ok || !strings.HasPrefix(wrong, "wrong: shut down its loop\n  first: closed\n  second: tcp: channel is clos") {
		t.Errorf("the wrong way: got\n%s", out)
	}
	if right != "  first: closed\n  second: open\n" {
		t.Errorf("the right way: got\n%s", out)
	}
}
