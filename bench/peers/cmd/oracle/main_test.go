package main

import (
	"bytes"
	"strings"
	"testing"

	"eventide/props/netty"
)

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"-n is 0, want at least 1":                  {"-n", "0"},
		"-n is -3, want at least 1":                 {"-n", "-3"},
		"-show is -1, want at least 0":              {"-show", "-1"},
		`got arguments ["more"], want none`:         {"more"},
		`invalid value "-1" for flag -seed`:         {"-seed", "-1"},
		`invalid value "many" for flag -n`:          {"-n", "many"},
		`invalid value "(" for flag -again`:         {"-again", "("},
		"-again is given, want -keep with it":       {"-again", "x"},
		"flag needs an argument: -n":                {"-n"},
		"flag provided but not defined: -nonsense":  {"-nonsense"},
		"flag provided but not defined: -programs":  {"-programs", "7"},
		"flag provided but not defined: -seed-base": {"-seed-base=7"},
	} {
		var stdout, stderr bytes.Buffer
		if code := oracleMain(args, &stdout, &stderr); code != 2 {
			t.Errorf("%v: got exit code %d, want %d", args, code, 2)
		}
		if !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%v: got %q and %q, want %q on standard error", args, stdout.String(), stderr.String(), want)
		}
	}
	var stdout, help bytes.Buffer
	if code := oracleMain([]string{"-h"}, &stdout, &help); code != 0 || !strings.Contains(help.String(), "-record") {
		t.Errorf("-h: got %d and %q, want 0 and the flags", code, help.String())
	}
}

// TestFewProgramsShowEveryDeparture: a run of a few programs has seen too little, and goes
// on with those that show what the others do not.
func TestFewProgramsShowEveryDeparture(t *testing.T) {
	for _, n := range []int{1, 200} {
		programs, _ := generate(7, n)
		var tally netty.Tally
		ids := map[int]bool{}
		for _, p := range programs {
			rules := netty.Predicted(p)
			tally.Add(netty.Verdict{Differs: len(rules) > 0, Rules: rules})
			ids[p.ID] = true
		}
		if missing := tally.Missing(); len(missing) > 0 || len(programs) < n || len(programs) > n+len(netty.Departures) || len(ids) != len(programs) {
			t.Errorf("%d programs asked for: got %d, %d numbers, missing %v", n, len(programs), len(ids), missing)
		}
	}
}

// TestWithoutNetty: what did not run says so, and is no pass.
func TestWithoutNetty(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := oracleMain([]string{"-drivers", t.TempDir(), "-n", "1"}, &stdout, &stderr); code != exitNotRun {
		t.Errorf("got exit code %d, want %d", code, exitNotRun)
	}
	if !strings.Contains(stdout.String(), "NOT RUN: nothing was compared with Netty") || !strings.Contains(stderr.String(), "make peers-setup") {
		t.Errorf("got %q and %q", stdout.String(), stderr.String())
	}
}
