package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestBadUsage(t *testing.T) {
	for want, args := range map[string][]string{
		`subject is "cores", want one of core,`:    {"-subjects", "core,cores"},
		`guarantee is "G99", want one of G1,`:      {"-guarantees", "G99"},
		`invalid value "-1" for flag -seed`:        {"-seed", "-1"},
		`got arguments ["more"], want none`:        {"more"},
		"flag needs an argument: -subjects":        {"-subjects"},
		"flag provided but not defined: -nonsense": {"-nonsense"},
	} {
		var said bytes.Buffer
		if code := matrixMain(args, &said); code != 2 || !strings.Contains(said.String(), want) {
			t.Errorf("%v: got %d and %q, want 2 and %q", args, code, said.String(), want)
		}
	}
	var help bytes.Buffer
	if code := matrixMain([]string{"-h"}, &help); code != 0 || !strings.Contains(help.String(), "netty-nio") {
		t.Errorf("-h: got %d and %q, want 0 and the flags", code, help.String())
	}
}
