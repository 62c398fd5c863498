package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBadUsage(t *testing.T) {
	for want, args := range map[string][]string{
		`no server matches -only "nothing"`: {"-only", "nothing"},
		"error parsing regexp":              {"-only", "("},
		"-rounds is 1, want at least 2":     {"-rounds", "1"},
		`got arguments ["more"], want none`: {"more"},
	} {
		var said bytes.Buffer
		if code := run(args, &bytes.Buffer{}, &said); code != 2 || !strings.Contains(said.String(), want) {
			t.Errorf("%v: got %d and %q, want 2 and %q", args, code, said.String(), want)
		}
	}
}

// TestOneServer: a server with a mistake is a row, and its failure is no failure of the command.
func TestOneServer(t *testing.T) {
	dir := t.TempDir()
	var out, said bytes.Buffer
	if code := run([]string{"-only", "^hijacked", "-rounds", "2", "-out", dir}, &out, &said); code != 0 {
		t.Errorf("exit code %d, want 0\n%s", code, said.String())
	}
	if !strings.Contains(out.String(), "FAIL hijacked connections forgotten, none-cut: ") {
		t.Errorf("got\n%s\nwant the failure of none-cut", out.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "drain.json"))
	if err != nil || !strings.Contains(string(text), `"breaks": "none-cut"`) {
		t.Errorf("got %s, %v, want the row", text, err)
	}
}

// TestOurs: what the servers of the repository do must be what they are made for.
func TestOurs(t *testing.T) {
	cell := func(status string) []Cell { return []Cell{{Verdict: "ended", Status: status}} }
	for want, s := range map[string]Server{
		"right: ended is inconclusive, want pass": {Name: "right", Cells: cell("inconclusive")},
		"wrong: ended does not fail":              {Name: "wrong", Breaks: "ended", Cells: cell("pass")},
		"away: not run: no port":                  {Name: "away", NotRun: "no port"},
		"":                                        {Name: "other", Foreign: true, Cells: cell("FAIL")},
	} {
		err := Report{Servers: []Server{s}}.ours()
		if got := errorText(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return strings.TrimSuffix(err.Error(), ": ")
}
