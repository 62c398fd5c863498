package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBadUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"ablation: -rounds is 5, want at least 6":    {"-rounds", "5"},
		"ablation: -sample is 0s, want more than 0":  {"-sample", "0s"},
		`got arguments ["more"], want none`:          {"more"},
		`invalid value "(" for flag -run`:            {"-run", "("},
		"flag provided but not defined: -benchmarks": {"-benchmarks", "x"},
	} {
		var said bytes.Buffer
		if code := run(t.Context(), args, &said, &said); code != 2 || !strings.Contains(said.String(), want) {
			t.Errorf("%v: got %d and %q, want 2 and %q", args, code, said.String(), want)
		}
	}
}

// TestFailures: what cannot be measured is an error, and an interruption is none of these.
func TestFailures(t *testing.T) {
	var said bytes.Buffer
	if code := run(t.Context(), []string{"-root", t.TempDir()}, &said, &said); code != 1 || !strings.Contains(said.String(), "ablation: mutant: no *.mutant") {
		t.Errorf("got %d and %q, want 1 and the missing files", code, said.String())
	}
	said.Reset()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := run(ctx, []string{"-root", "../../..", "-out", t.TempDir()}, &said, &said); code != 130 || !strings.Contains(said.String(), "ablation: interrupted") {
		t.Errorf("got %d and %q, want 130", code, said.String())
	}
}
