// Package docs has the tests of these pages and of the README: programs are run,
// fragments are compiled, commands exist, and outputs are those of the commands.
package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = ".."

// page is one document. Its name is its path from the root.
type page struct{ name, text string }

func readPage(t *testing.T, name string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return page{name, string(text)}
}

// pages are the README and the pages of this directory.
func pages(t *testing.T) []page {
	t.Helper()
	names, err := filepath.Glob("*.md")
	if err != nil || len(names) < 10 {
		t.Fatalf("got the pages %v, %v, want at least ten", names, err)
	}
	all := []page{readPage(t, "README.md")}
	for _, name := range names {
		all = append(all, readPage(t, "docs/"+name))
	}
	return all
}

// block is a fenced block of a page: what it has for a language, and what is inside.
type block struct{ language, text string }

var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

func (p page) blocks() []block {
	var all []block
	for _, m := range fence.FindAllStringSubmatch(p.text, -1) {
		all = append(all, block{m[1], m[2]})
	}
	return all
}

// programs are the pages that begin with a program. The one after "It prints" is its output.
var programs = []string{"README.md", "docs/service.md", "docs/http.md", "docs/pool.md", "docs/shutdown.md", "docs/tcp.md", "docs/netty.md", "docs/watching.md"}

// TestPagesBeginWithWhatWorks: the first block of a page is a program or a command, before
// any heading but the title. TestPrograms and TestOpeningCommands run it.
func TestPagesBeginWithWhatWorks(t *testing.T) {
	for _, p := range pages(t)[1:] {
		if err := opening(p.text); err != "" {
			t.Errorf("%s %s", p.name, err)
		}
	}
	for text, want := range map[string]string{
		"# A\n\n```sh\nls\n```\n":        "",
		"# A\n\nSome words.\n":           "has no program and no command",
		"# A\n\n## B\n\n```go\n\n```\n":  "has a heading before its first program or command",
		"# A\n\n```\nsome output\n```\n": "begins with a block that is neither go nor sh",
	} {
		if got := opening(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func opening(text string) string {
	blocks := page{text: text}.blocks()
	if len(blocks) == 0 {
		return "has no program and no command"
	}
	before, _, _ := strings.Cut(text, "```")
	switch {
	case strings.Contains(before, "\n## "):
		return "has a heading before its first program or command"
	case blocks[0].language != "go" && blocks[0].language != "sh":
		return "begins with a block that is neither go nor sh"
	}
	return ""
}

var machinePath = regexp.MustCompile("(?:^|[\\s`'\"(=])(/(?:tmp|work|home|root|Users)/[^\\s`'\")]*)")

// TestNoPathsOfOneMachine: pages, kept figures and what is made of them name no directory
// of the machine that wrote them.
func TestNoPathsOfOneMachine(t *testing.T) {
	kept, err := filepath.Glob(filepath.Join(root, "testdata", "*", "*.json"))
	if err != nil || len(kept) < 5 {
		t.Fatalf("got the kept figures %v, %v", kept, err)
	}
	all := append(pages(t), readPage(t, "RESULTS.md"), readPage(t, "CHANGELOG.md"))
	for _, path := range kept {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, readPage(t, name))
	}
	for _, p := range all {
		if m := machinePath.FindStringSubmatch(p.text); m != nil {
			t.Errorf("%s names %s", p.name, m[1])
		}
	}
	if machinePath.FindString("in `/tmp/x/y`") == "" {
		t.Error("a path was not seen")
	}
}
