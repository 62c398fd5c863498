package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"eventide/bench/gate/release"
	"eventide/props/history"
)

var figures = regexp.MustCompile(`[-+]?\d+(\.\d+)?(e[-+]\d+)?`)

// shape is a line without its numbers and the width of its blanks.
func shape(line string) string {
	return strings.Join(strings.Fields(figures.ReplaceAllString(line, "N")), " ")
}

// shows returns an error unless each line of the page's block is in the output, in this
// order, as far as same can tell; "..." stands for any lines.
func shows(p page, with, output string, same func(string) string) error {
	i := slices.IndexFunc(p.blocks(), func(b block) bool { return b.language == "" && strings.Contains(b.text, with) })
	if i < 0 {
		return fmt.Errorf("%s has no block with %q", p.name, with)
	}
	rest := strings.Split(output, "\n")
	for line := range strings.Lines(p.blocks()[i].text) {
		if line = strings.TrimSuffix(line, "\n"); line == "..." {
			continue
		}
		at := slices.IndexFunc(rest, func(printed string) bool { return same(printed) == same(line) })
		if at < 0 {
			return fmt.Errorf("%s shows %q, which is not printed", p.name, line)
		}
		rest = rest[at+1:]
	}
	return nil
}

// TestConformancePageShowsAFinding: the words of the finding that the page shows are those of
// the command interleave and of the kit. props/cmd/interleave runs the other page's example.
func TestConformancePageShowsAFinding(t *testing.T) {
	p := readPage(t, "docs/conformance.md")
	var source strings.Builder
	for _, text := range sources("props/interleave/driver", "props/interleave/protocol") {
		source.Write(text)
	}
	for _, predicate := range history.Predicates() {
		fmt.Fprintf(&source, "%s %s\n", predicate.Guarantee, predicate.Sentence)
	}
	for _, words := range []string{"the test failed", "found in schedule ", "confirmed in a fresh process", "G12 accepted work begins as soon as the loop is free"} {
		if !strings.Contains(p.text, words) || !strings.Contains(source.String(), words) {
			t.Errorf("%q: on the page: %v, printed: %v", words, strings.Contains(p.text, words), strings.Contains(source.String(), words))
		}
	}
}

// TestPagesShowOutputs compares what pages show with the kept report and the kept gate run;
// of the run, which is replaced from time to time, everything but numbers.
func TestPagesShowOutputs(t *testing.T) {
	exact := func(line string) string { return line }
	report := readPage(t, "props/history/testdata/bad-9603-task-lost-at-termination.report").text
	failures := readPage(t, "docs/failures.md")
	if err := shows(failures, "accepted at #10", report, exact); err != nil {
		t.Error(err)
	}
	if shows(failures, "accepted at #10", strings.Replace(report, "task 2", "task 3", 1), exact) == nil {
		t.Error("another report was not seen")
	}

	data, err := os.ReadFile(filepath.Join(root, "testdata/bench/gate.json"))
	if err != nil {
		t.Fatal(err)
	}
	var kept release.Report
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := kept.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	page := readPage(t, "docs/release.md")
	if err := shows(page, "selftest", table.String(), shape); err != nil {
		t.Error(err)
	}
	if shows(page, "selftest", strings.ReplaceAll(table.String(), "wake", "sleep"), shape) == nil {
		t.Error("another word was not seen")
	}
}
