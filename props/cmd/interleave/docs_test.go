package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	codeBlock = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	blanks    = regexp.MustCompile(` +`)
	digits    = regexp.MustCompile(`\d+(\.\d+)?(ns|µs|ms|s)?|0x[0-9a-f]+`)
)

// installed builds the command and returns its name.
func installed(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "interleave")
	if out, err := exec.Command("go", "build", "-o", name, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// shape is text with numbers and the width of blanks left out.
func shape(text string) string {
	return blanks.ReplaceAllString(digits.ReplaceAllString(text, "N"), " ")
}

// The page's example is pasted into an empty module, and its commands are run as they
// stand there. The first command prints what the page shows.
func TestPageWorksAsPasted(t *testing.T) {
	page, err := os.ReadFile("../../../docs/interleave.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := codeBlock.FindAllStringSubmatch(string(page), 3)
	if len(blocks) < 3 || blocks[0][1] != "go" || blocks[1][1] != "sh" {
		t.Fatal("the page does not begin with a program, commands and their output")
	}
	program, commands, output := blocks[0][2], strings.Split(strings.TrimSpace(blocks[1][2]), "\n"), blocks[2][2]
	if n := strings.Count(program, "\n"); n > 35 || len(commands) != 3 {
		t.Errorf("the page begins with %d lines and %d commands, want a short program and three commands", n, len(commands))
	}

	bin := filepath.Dir(installed(t))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Chdir(t.TempDir())
	if out, err := exec.Command("go", "mod", "init", "example.com/bank").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	write(t, "bank_test.go", program)

	var printed []string
	for _, line := range commands {
		out, err := exec.Command("sh", "-c", line).CombinedOutput()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
			t.Errorf("%s: %v, want exit code 1\n%s", line, err, out)
		}
		if !strings.Contains(string(out), "cycle: g2 waits for g3 waits for g2") {
			t.Errorf("%s: the deadlock is not explained\n%s", line, out)
		}
		printed = append(printed, string(out))
	}
	for line := range strings.Lines(output) {
		if line != "...\n" && !strings.Contains(shape(printed[0]), shape(line)) {
			t.Errorf("the first command does not print %q", line)
		}
	}
	if t.Failed() {
		t.Logf("%s", printed[0])
	}
	if !strings.Contains(printed[2], ": reproduced: ") {
		t.Errorf("the replay does not reproduce the bug\n%s", printed[2])
	}
}
