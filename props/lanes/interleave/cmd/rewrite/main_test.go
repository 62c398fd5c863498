package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"rewrite: flag provided but not defined: -nonsense": {"-nonsense"},
		"rewrite: flag needs an argument: -o":               {"-o"},
		`rewrite: got arguments ["more"], want none`:        {"more"},
		`rewrite: invalid boolean value "x" for -v`:         {"-v=x"},
	} {
		var said bytes.Buffer
		if code := run(args, &said); code != 2 || !strings.Contains(said.String(), want) {
			t.Errorf("%v: got %d and %q, want 2 and %q", args, code, said.String(), want)
		}
	}
	var help bytes.Buffer
	if code := run([]string{"-h"}, &help); code != 0 || !strings.Contains(help.String(), "file of a mutant") {
		t.Errorf("-h: got %d and %q, want 0 and the flags", code, help.String())
	}
	var said bytes.Buffer
	if code := run([]string{"-root", t.TempDir(), "-o", t.TempDir()}, &said); code != 1 {
		t.Errorf("no module: got %d and %q, want 1", code, said.String())
	}
}
