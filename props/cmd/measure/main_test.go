package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain runs the tests in the root of the repository, as the command is run.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"pears"}, {"kernels", "speed"}, {"-nonsense", "check"}} {
		var out, errs bytes.Buffer
		if code := run(args, &out, &errs); code != 2 || !strings.Contains(errs.String(), "-h lists the flags") {
			t.Errorf("%q: exit code %d\n%s", args, code, &errs)
		}
	}
}

// A measurement by a binary that does not know its revision is refused before it begins.
func TestRevision(t *testing.T) {
	for _, what := range []string{"kernels", "determinism", "speed"} {
		var out, errs bytes.Buffer
		if code := run([]string{"-kept", t.TempDir(), "-docs", t.TempDir(), what}, &out, &errs); code != 1 || !strings.Contains(errs.String(), "revision") {
			t.Errorf("%s: exit code %d\n%s", what, code, &errs)
		}
	}
}

// The page is written from the kept figures, and one digit typed by hand is found.
func TestPages(t *testing.T) {
	docs := t.TempDir()
	do := func(what string) (int, string) {
		var out, errs bytes.Buffer
		code := run([]string{"-docs", docs, what}, &out, &errs)
		return code, errs.String()
	}
	if code, errs := do("pages"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if code, errs := do("check"); code != 0 {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	page := filepath.Join(docs, "kernels.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(page, bytes.Replace(text, []byte("| walk | "), []byte("| walk | 1"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, errs := do("check"); code != 1 || !strings.Contains(errs, "does not state the kept results") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
}
