package promises

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const root = "../.."

// TestTablesAreTrue: each table has every symbol with a doc comment, or every page, and the
// symbols, tests, planted bugs, texts and promises that it names exist.
func TestTablesAreTrue(t *testing.T) {
	tables, err := Load(root)
	require.NoError(t, err)
	for _, table := range tables {
		require.NoError(t, Check(root, table, tables), "testdata/promises: table of %s", table.Package)
		t.Log(table.Package, table.Count())
	}
}

// small is a module with one package.
var small = map[string]string{
	"p/p.go": `// Package p has a comment.
package p

// Do does it.
func Do() int {
	n := 1
	return n
}

// Once is documented.
type Once interface {
	// Call calls.
	Call()
}

func Undocumented() {}
`,
	"p/p_test.go":                   "package p\n\nfunc TestDo(t *testing.T) {}\n",
	"testdata/mutants/known.mutant": "",
	"docs/use.md":                   "# Use it\n\n```sh\n## no heading\n```\n\n## Calls\n\n### Do it\n",
	"docs/build.md":                 "# Build it\n\n## Alone\n",
}

// good is its table.
const good = `package p
[package]
[Do]
does it
    test: TestDo
    break: p.go Do: n := 1 => n := 2
never fails
    bug: known
[Once]
[Once.Call]
is fast
    untestable: a cost
`

func writeSmall(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range small {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func TestEachLieOfATableIsFound(t *testing.T) {
	dir := writeSmall(t)
	table, err := Parse(strings.NewReader(good))
	require.NoError(t, err)
	require.NoError(t, Check(dir, table, nil))
	require.Equal(t, Counts{All: 3, Checked: 2, Untestable: 1}, table.Count())
	for _, c := range []struct{ old, new, want string }{
		{"[Once]\n", "", "Once of p is not in the table"},
		{"[package]\n", "", "package of p is not in the table"},
		{"[Do]", "[Don]", "line 3: p has no Don"},
		{"[Once]", "[Do]", "line 9: Do is listed twice"},
		{"test: TestDo", "test: TestDone", "line 4: p has no test TestDone"},
		{"test: TestDo", "added: q.TestDo", "q: no such file or directory"},
		{"bug: known", "bug: unknown", "line 7: there is no planted bug unknown"},
		{"n := 1 =>", "n := 3 =>", `has 0 times "n := 3", want 1`},
		{"p.go Do: n := 1", "p.go Did: n := 1", "p/p.go: has 0 functions Did, want 1"},
		{"p.go Do: n := 1", "p.go Do: n", "want 1"},
		{"    bug: known\n", "", `line 7: "never fails" has no planted bug and no break`},
		{"    test: TestDo\n", "", `line 4: "does it" has a break, and no test that sees it`},
	} {
		require.Contains(t, good, c.old)
		spoilt, err := Parse(strings.NewReader(strings.Replace(good, c.old, c.new, 1)))
		require.NoError(t, err)
		require.ErrorContains(t, Check(dir, spoilt, nil), c.want)
	}
}

// pages is the table of its pages.
const pages = `pages docs
[build.md]
[use.md]
[use.md: Calls]
the call does it
    see: p [Do] does it
[use.md: Do it]
and it is quiet
    test: p.TestDo
    break: p/p.go Do: n := 1 => n := 2
`

func TestEachLieOfATableOfPagesIsFound(t *testing.T) {
	dir := writeSmall(t)
	code, err := Parse(strings.NewReader(good))
	require.NoError(t, err)
	table, err := Parse(strings.NewReader(pages))
	require.NoError(t, err)
	require.NoError(t, Check(dir, table, []Table{code, table}))
	require.Equal(t, Counts{All: 2, Checked: 1, Elsewhere: 1}, table.Count())
	require.Contains(t, table.Count().String(), "1 are checked in other tables")
	for _, c := range []struct{ old, new, want string }{
		{"[build.md]\n", "", "build.md of docs is not in the table"},
		{"[use.md: Do it]\n", "", "use.md: Do it of docs is not in the table"},
		{"[use.md: Calls]", "[use.md: no heading]", "line 4: docs has no use.md: no heading"},
		{"see: p [Do] does it", "see: p [Do] does that", "line 5: there is no promise p [Do] does that"},
		{"see: p [Do] does it", "see: p [Once.Call] is fast", "line 5: p [Once.Call] is fast has no check of its own"},
		{"see: p [Do] does it", "see: docs [use.md: Calls] the call does it", "has no check of its own"},
		{"test: p.TestDo", "test: p.TestDone", "line 8: p has no test TestDone"},
	} {
		require.Contains(t, pages, c.old)
		spoilt, err := Parse(strings.NewReader(strings.Replace(pages, c.old, c.new, 1)))
		require.NoError(t, err)
		require.ErrorContains(t, Check(dir, spoilt, []Table{code, spoilt}), c.want)
	}
}

func TestParseNamesTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "want a line: package DIRECTORY",
		"core\n":                             `line 1: "core", want: package DIRECTORY`,
		"package p\nnonsense\n":              `line 2: "nonsense" is of no symbol`,
		"package p\n[A\n":                    `line 2: "[A", want: [SYMBOL]`,
		"package p\n[A]\n    test: T\n":      `line 3: "    test: T" is of no promise`,
		"package p\n[A]\nx\n    test:\n":     `line 4: "test:", want KEY: VALUE`,
		"package p\n[A]\nx\n    seen: T\n":   `line 4: unknown key "seen"`,
		"package p\n[A]\nx\n    break: f: a": `line 4: "f: a", want FILE FUNCTION: OLD => NEW`,
		"package p\n[A]\nx\n    see: f: a":   `line 4: "f: a", want PACKAGE [SYMBOL] PROMISE`,
	} {
		_, err := Parse(strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
}

// TestApplyChangesOneFunction: the same text in another function stays.
func TestApplyChangesOneFunction(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n\nfunc (T) F() { x() }\n\nfunc (*U[V]) F() { x() }\n"), 0o644))
	got, err := Break{File: "a.go", Func: "U.F", Old: "x()", New: "y()"}.Apply(dir)
	require.NoError(t, err)
	require.Equal(t, "package a\n\nfunc (T) F() { x() }\n\nfunc (*U[V]) F() { y() }\n", got)
	_, err = Break{File: "a.go", Func: "F", Old: "x()", New: "y()"}.Apply(dir)
	require.ErrorContains(t, err, "has 2 functions F, want 1")
	_, err = Break{File: "a.go", Func: "-", Old: "x()", New: "y()"}.Apply(dir)
	require.ErrorContains(t, err, `has 2 times "x()", want 1`)
}
