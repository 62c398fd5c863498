package props_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"eventide/internal/contract"
	"eventide/model"
	"eventide/props"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the parts of documents that come from the code, instead of comparing them")

// part is what a document takes from the code: the text of its region is what made
// returns. `make docs` writes it.
type part struct {
	name, file string
	region     *regexp.Regexp
	made       func() string
}

var parts = []part{
	{"guarantees", "README.md", regexp.MustCompile(`\| \| Guarantee \|\n(\|.*\n)+`), guaranteeTable},
	{"guarantees of core", "core/doc.go", regexp.MustCompile(`(?m)(^//   - G\d+ .*\n(//     .*\n)*)+`), guaranteeList},
	{"judges", "docs/verification.md", regexp.MustCompile(`\| \| predicates \|.*\n(\|.*\n)+`), judgeTable},
	{"states", "docs/shutdown.md", regexp.MustCompile("(?s)```mermaid\n.*?```\n"), stateDiagram},
}

func guaranteeTable() string {
	var b strings.Builder
	b.WriteString("| | Guarantee |\n|---|---|\n")
	for _, g := range contract.Guarantees {
		fmt.Fprintf(&b, "| %s | %s |\n", g.ID, g.Sentence)
	}
	return b.String()
}

// guaranteeList is a list as gofmt writes it in a comment, with lines of up to 88 bytes.
func guaranteeList() string {
	var b strings.Builder
	for _, g := range contract.Guarantees {
		line := "//   - " + g.ID
		for word := range strings.FieldsSeq(g.Sentence + ".") {
			if len(line)+1+len(word) > 88 {
				b.WriteString(line + "\n")
				line = "//    "
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// judgeTable has what shows each guarantee: the predicates of the log, the property
// whose programs lean towards it, and the bug that is planted to show that the check can fail.
func judgeTable() string {
	var b strings.Builder
	b.WriteString("| | predicates | needed runs | planted bug |\n|---|---|---|---|\n")
	for _, g := range props.Guarantees {
		judges := strings.Join(g.Predicates, ", ")
		switch {
		case !g.Checked():
			judges = "-"
		case judges == "":
			judges = "its own property"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | `%s` |\n", g.ID, judges, g.Needed(), g.Mutant)
	}
	return b.String()
}

func stateDiagram() string { return "```mermaid\n" + model.Mermaid() + "```\n" }

// checkPart returns an error unless the document has what the code makes.
func checkPart(p part, text string) error {
	got, want := p.region.FindString(text), p.made()
	if got == "" {
		return fmt.Errorf("%s has no place for it: nothing matches %v", p.file, p.region)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		if g, w := lineOf(gotLines, i), lineOf(wantLines, i); g != w {
			return fmt.Errorf("%s: got %q, want %q; `make docs` writes it", p.file, g, w)
		}
	}
	return nil
}

func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

// TestDocumentsAreTrueOfTheCode compares each part, or writes it with -update.
func TestDocumentsAreTrueOfTheCode(t *testing.T) {
	for _, p := range parts {
		path := filepath.Join(root, p.file)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		if *update {
			text := p.region.ReplaceAllLiteralString(string(data), p.made())
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			data = []byte(text)
		}
		assert.NoError(t, checkPart(p, string(data)), p.name)
	}
}

// TestPartsCanDiffer changes one letter of each part.
func TestPartsCanDiffer(t *testing.T) {
	for _, p := range parts {
		made := p.made()
		require.NoError(t, checkPart(p, made), p.name)
		at := strings.LastIndexAny(made, "aeiou")
		require.Error(t, checkPart(p, made[:at]+"y"+made[at+1:]), "%s: a changed letter", p.name)
		require.Error(t, checkPart(p, ""), "%s: a document without it", p.name)
	}
}
