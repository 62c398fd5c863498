package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("EVENTIDE_EXAMPLE") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestClosing runs the program: with the mistake the second connection is gone.
func TestClosing(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "EVENTIDE_EXAMPLE=1")
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
