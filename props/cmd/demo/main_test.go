package main

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const root = "../../.."

// TestDemo runs the command and looks for what each part is to show.
func TestDemo(t *testing.T) {
	var out, complaints bytes.Buffer
	if code := run([]string{"-root", root}, &out, &complaints); code != 0 {
		t.Errorf("exit code %d, want 0\n%s", code, complaints.String())
	}
	for _, want := range []string{
		`(?m)^   a channel and a worker +accepted +\d+ +ran +\d+ +LOST [1-9]\d*$`,
		`(?m)^   core.Executor +accepted +[1-9]\d+ +ran +\d+ +lost 0$`,
		`(?m)^   caught     G4 tasks begin in the order submitted: task \d+ was accepted before task \d+ was, yet began`,
		`(?m)^   minimised  from \d+ calls to \d+;`,
		`(?m)^   explained  begin task \d+, then begin task \d+$`,
		`(?m)^   go test -count=1000 (passes|finds the bug too|hangs until its time limit)$`,
		`(?m)^   interleave test: deadlock: the test waits`,
		`(?m)^   found in schedule \d+ `,
		`to\.Lock\(\)  <- waits for ever`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %s", want)
		}
	}
	for i, text := range strings.Split(strings.TrimSpace(out.String()), "\n\n") {
		if n := strings.Count(text, "\n"); n < 3 || n > 10 {
			t.Errorf("part %d has %d lines, want 3 to 10", i+1, n)
		}
	}
	if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), strong) {
		t.Error("the output of no terminal has colours, or marks")
	}
	t.Log("\n" + out.String())
}

// TestAPartThatShowsNothing: the exit code is 1, the reason is printed, and the other parts are.
func TestAPartThatShowsNothing(t *testing.T) {
	var out bytes.Buffer
	code := show(root, []part{
		{"one", func(string) ([]string, error) {
			return []string{"a", "b " + strong + "c" + strong}, errors.New("no\nbug")
		}},
		{"two", func(string) ([]string, error) { return []string{"d"}, nil }},
	}, &out, false)
	if want := "1  one\n   a\n   b c\n   NOT SHOWN: no\n   bug\n\n2  two\n   d\n\n"; code != 1 || out.String() != want {
		t.Errorf("got %d and %q, want 1 and %q", code, out.String(), want)
	}
}

// TestPartsCanFail: counts and outputs that do not show what a part is for are errors.
func TestPartsCanFail(t *testing.T) {
	if err := judgeLosses(count{10, 9}, count{10, 10}); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	if judgeLosses(count{10, 10}, count{10, 10}) == nil {
		t.Error("got no error for a channel that loses nothing")
	}
	if judgeLosses(count{10, 9}, count{10, 9}) == nil {
		t.Error("got no error for a core that loses a task")
	}
	if _, err := readFinding("ok  	eventide/props	0.1s\n"); err == nil {
		t.Error("got no error for a property that passes")
	}
	if _, err := readFinding("G4 broken\ntrace\n> 3 0s begin task 1\n\nto run\ng1:\nexecute 1\n\nmade smaller from\ng1:\nexecute 1\n"); err == nil {
		t.Error("got no error for a program that is not smaller")
	}
	if _, err := explainSchedule("PASS\nok  	example.com/bank\n", "ok  	example.com/bank\n"); err == nil {
		t.Error("got no error for a search that finds nothing")
	}
	if _, err := planted(t.TempDir()); err == nil {
		t.Error("got no error without planted bugs")
	}
}

// TestColours: only what is marked, and only on a terminal that wants them.
func TestColours(t *testing.T) {
	line := "LOST " + strong + "3" + strong + " tasks"
	if got := emphasise(line, true); got != "LOST "+red+"3"+off+" tasks" {
		t.Errorf("got %q, want the marked word red", got)
	}
	if got := emphasise(line, false); got != "LOST 3 tasks" {
		t.Errorf("got %q, want no colours", got)
	}
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = device.Close() }()
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	if !coloured(device) || coloured(&bytes.Buffer{}) {
		t.Errorf("got %v for a character device, %v for a buffer; want true, false", coloured(device), coloured(&bytes.Buffer{}))
	}
	t.Setenv("NO_COLOR", "1")
	if coloured(device) {
		t.Error("NO_COLOR has no effect")
	}
}

// TestTheProgramIsThatOfThePage: the third part runs what docs/interleave.md shows.
func TestTheProgramIsThatOfThePage(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/interleave.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```go\n"+bank+"```") {
		t.Error("docs/interleave.md has another program")
	}
}

func TestBadUsage(t *testing.T) {
	var said bytes.Buffer
	if code := run([]string{"more"}, &bytes.Buffer{}, &said); code != 2 || !strings.Contains(said.String(), "want none") {
		t.Errorf("got %d and %q, want 2", code, said.String())
	}
}
