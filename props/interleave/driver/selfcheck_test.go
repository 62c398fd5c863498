package driver

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func sessionOf(t *testing.T) *session {
	t.Helper()
	t.Setenv("INTERLEAVE_CACHE", t.TempDir())
	s, err := newSession(&Options{Exhaust: -1, Stdout: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSelfCheck(t *testing.T) {
	if err := sessionOf(t).selfCheck(); err != nil {
		t.Error(err)
	}
}

// A run whose binaries are not controlled fails, and finds nothing.
func TestSelfCheckOfUncontrolledBinary(t *testing.T) {
	s := sessionOf(t)
	s.builder.flags = nil
	err := s.selfCheck()
	if !errors.Is(err, errSelfCheck) || !strings.Contains(err.Error(), "TestLostUpdate") {
		t.Errorf("error %v, want one that names the bug that was not found", err)
	}
}
