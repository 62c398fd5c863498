package main

import (
	"strings"
	"testing"

	"eventide/core/internal/coretest/underload"
)

func TestMain(m *testing.M) { underload.Main(m, main) }

// TestClosing runs the program: with the mistake the second connection is gone.
func TestClosing(t *testing.T) {
	cmd := underload.Command(t.Context())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wrong, right, ok := strings.Cut(string(out), "right: close the channel\n")
	if !ok || !strings.HasPrefix(wrong, "wrong: shut down its loop\n  first: closed\n  second: tcp: channel is clos") {
		t.Errorf("the wrong way: got\n%s", out)
	}
	if right != "  first: closed\n  second: open\n" {
		t.Errorf("the right way: got\n%s", out)
	}
}
