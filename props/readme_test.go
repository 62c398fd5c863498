package props_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/props/exectest"
	"eventide/props/history"
	"eventide/props/mutant"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the root of the module, seen from this package.
const root = ".."

// mine wraps an executor in the three methods of exectest.Subject.
type mine struct{ ex *core.Executor }

func (m mine) Execute(task func()) error { return m.ex.Execute(task) }

func (m mine) Shutdown(quiet, timeout time.Duration) error {
	_, err := m.ex.ShutdownGracefully(quiet, timeout)
	return err
}

func (m mine) Done() <-chan struct{} { return m.ex.Termination().Done() }

func TestConformance(t *testing.T) {
	r := exectest.Run(t, func() exectest.Subject {
		ex, err := core.NewExecutor()
		if err != nil {
			t.Fatal(err)
		}
		return mine{ex}
	})
	t.Log("\n" + r.String())
}

var numbers = regexp.MustCompile(`\b(\d+|N)\b`)

// TestThePageShowsTheTableOfTheKit compares each line that the page shows, but for numbers.
func TestThePageShowsTheTableOfTheKit(t *testing.T) {
	table, err := block(load(t)["docs/conformance.md"], "", "exercised  guarantee")
	require.NoError(t, err)
	r := exectest.Check(func() exectest.Subject {
		ex, err := core.NewExecutor()
		require.NoError(t, err)
		return mine{ex}
	}, exectest.Rounds(2))
	shape := func(text string) string {
		return strings.Join(strings.Fields(numbers.ReplaceAllString(text, "N")), " ")
	}
	all := shape(r.String())
	for line := range strings.Lines(table) {
		if line != "...\n" {
			assert.Contains(t, all, shape(line), "what the kit prints")
		}
	}
}

// texts are files by their path from the root.
type texts map[string]string

// documents are the texts that the checks below read, beside every page of docs; every .md
// is checked.
var documents = []string{
	"README.md", "CHANGELOG.md", "SECURITY.md", "testdata/cases/README.md", "testdata/mutants/README.md",
	"Makefile", "core/example_test.go", "props/readme_test.go",
}

func load(t *testing.T) texts {
	t.Helper()
	files := texts{}
	names, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(names), 5, "pages: %v", names)
	for i := range names {
		names[i] = "docs/" + filepath.Base(names[i])
	}
	for _, name := range slices.Concat(documents, names) {
		data, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		files[name] = string(data)
	}
	return files
}

// documentChecks say what has to be true of the documents, and what change of
// them must be noticed: file with old replaced by new.
var documentChecks = []struct {
	name           string
	check          func(texts) error
	file, old, new string
}{
	{"promise", promise, "README.md", "if and only if", "if"},
	{"program", program, "README.md", "{ ex.Shutdown() }", "{ ex.Close() }"},
	{"program, by its example", program, "core/example_test.go", `fmt.Println("lost:", accepted-ran)`, `fmt.Println(accepted-ran)`},
	{"kit", kit, "docs/conformance.md", "return mine{ex}", "return mine{nil}"},
	{"make targets", makeTargets, "README.md", "`make verify` explores", "`make certain` explores"},
	{"make targets, by the Makefile", makeTargets, "Makefile", "\nverify:", "\nverified:"},
	{"rules explained", rulesExplained, "docs/netty.md", "| R37 |", "| - |"},
	{"tests named", testsNamed, "docs/netty.md", "`TestPropG17Start`", "`TestPropG17Stop`"},
	{"mutants named", mutantsNamed, "docs/netty.md", "`g3-no-final-drain`", "`g3-no-last-drain`"},
	{"mutants listed", mutantsListed, "testdata/mutants/README.md", "| `g4-lifo-segment` | G4 |", "| `g4-lifo-segment` | G3 |"},
	{"calls named", callsNamed, "testdata/cases/README.md", "`shutdown`", "`stop`"},
	{"links", links, "README.md", "](docs/shutdown.md)", "](docs/closing.md)"},
	{"links to headings", links, "docs/service.md", "](tcp.md#descriptors-of-your-own)", "](tcp.md#descriptors)"},
}

func TestDocumentsAreTrue(t *testing.T) {
	files := load(t)
	for _, c := range documentChecks {
		assert.NoError(t, c.check(files), c.name)
	}
}

// TestDocumentChecksCanFail spoils one text for each check.
func TestDocumentChecksCanFail(t *testing.T) {
	for _, c := range documentChecks {
		files := load(t)
		require.Contains(t, files[c.file], c.old, "%s: nothing is spoilt in %s", c.name, c.file)
		files[c.file] = strings.Replace(files[c.file], c.old, c.new, 1)
		assert.Error(t, c.check(files), "%s: %q in place of %q in %s", c.name, c.new, c.old, c.file)
	}
}

// block returns the first fenced block of the language that contains a text.
func block(text, language, with string) (string, error) {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "\n```"+language+"\n")
		if !found {
			return "", fmt.Errorf("no block of %s contains %q", language, with)
		}
		inside, next, _ := strings.Cut(after, "```\n")
		if strings.Contains(inside, with) {
			return inside, nil
		}
		rest = next
	}
}

func promise(files texts) error {
	const line = "**`Execute` returned nil if and only if the task runs exactly once before `Done` closes.**"
	return contains(files, "README.md", "\n"+line+"\n")
}

func contains(files texts, name, text string) error {
	if !strings.Contains(files[name], text) {
		return fmt.Errorf("%s does not contain\n%s", name, text)
	}
	return nil
}

// between returns what stands between two texts; "" if they are not there.
func between(text, from, to string) string {
	_, after, _ := strings.Cut(text, from)
	inside, _, found := strings.Cut(after, to)
	if !found {
		return ""
	}
	return inside
}

// example returns the body of ExampleExecutor and what it is to print.
func example(files texts) (body, output string) {
	text := between(files["core/example_test.go"], "\nfunc ExampleExecutor() {\n", "\n}\n")
	body, output, _ = strings.Cut(text, "\t// Output: ")
	return body, output
}

// program compares the body of main with that of the example.
func program(files texts) error {
	source, err := block(files["README.md"], "go", "func main()")
	if err != nil {
		return err
	}
	got := between(source, "func main() {\n", "\n}\n") + "\n"
	if want, output := example(files); output == "" || got != want {
		return fmt.Errorf("main is\n%s\nand ExampleExecutor\n%s", got, want)
	}
	return nil
}

// kit compares the code that wraps an executor with the code of this file, which
// is compiled and run.
func kit(files texts) error {
	source, err := block(files["docs/conformance.md"], "go", "type mine struct")
	if err != nil {
		return err
	}
	_, source, _ = strings.Cut(source, "\n)\n") // package and imports
	return contains(files, "props/readme_test.go", source)
}

var makeTarget = regexp.MustCompile("(?m)(?:^|`|^- |[A-Z]+=\\S+ )make ([a-z][a-z-]*)")

// makeTargets looks in the Makefile for every target that a document names.
func makeTargets(files texts) error {
	return eachMatch(files, makeTarget, func(_, target string) error {
		return contains(files, "Makefile", "\n"+target+":")
	})
}

// eachMatch calls f with the first group of every match in every document.
func eachMatch(files texts, what *regexp.Regexp, f func(name, match string) error) error {
	found := 0
	for name, text := range files {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, m := range what.FindAllStringSubmatch(text, -1) {
			found++
			if err := f(name, m[1]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if found == 0 {
		return fmt.Errorf("no document contains %v", what)
	}
	return nil
}

var (
	testName     = regexp.MustCompile(`\b(Test[A-Z]\w*)`)
	testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

var ruleNumber = regexp.MustCompile(`\bR[1-9][0-9]{0,2}\b`)

// rulesExplained looks for each rule of Netty that the source names by number.
func rulesExplained(files texts) error {
	explained := map[string]bool{}
	for _, r := range ruleNumber.FindAllString(files["docs/netty.md"], -1) {
		explained[r] = true
	}
	for _, dir := range []string{"core", "model", "props"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.Contains(file, "testdata") {
				return err
			}
			data, err := os.ReadFile(file)
			for _, r := range ruleNumber.FindAllString(string(data), -1) {
				if !explained[r] && err == nil {
					err = fmt.Errorf("%s names %s, which docs/netty.md does not explain", file, r)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// testsNamed looks for every test that a document names.
func testsNamed(files texts) error {
	known := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		data, err := os.ReadFile(file)
		for _, m := range testFunction.FindAllStringSubmatch(string(data), -1) {
			known[m[1]] = true
		}
		return err
	})
	if err != nil {
		return err
	}
	return eachMatch(files, testName, func(_, test string) error {
		if !known[test] {
			return fmt.Errorf("there is no %s", test)
		}
		return nil
	})
}

var mutantName = regexp.MustCompile(`\b(g\d+-[a-z][a-z0-9-]+)\b`)

// mutantsNamed looks for every planted bug that a document names.
func mutantsNamed(files texts) error {
	return eachMatch(files, mutantName, func(_, name string) error {
		_, err := os.Stat(filepath.Join(root, "testdata", "mutants", name+".mutant"))
		return err
	})
}

// mutantsListed wants a row for every planted bug.
func mutantsListed(files texts) error {
	planted, err := mutant.Load(filepath.Join(root, "testdata", "mutants"))
	if err != nil {
		return err
	}
	for _, m := range planted {
		row := fmt.Sprintf("\n| `%s` | %s | %s |\n", m.Name, m.Guarantee, m.StandsFor)
		if err := contains(files, "testdata/mutants/README.md", row); err != nil {
			return err
		}
	}
	return nil
}

// callsNamed compares the words for calls in case files with the vocabulary.
func callsNamed(files texts) error {
	var words []string
	for op := history.OpExecute; op <= history.OpListen; op++ {
		if op <= history.OpState || op >= history.OpRegister {
			words = append(words, "`"+op.String()+"`")
		}
	}
	text := files["testdata/cases/README.md"]
	if want := strings.Join(words, ", "); !strings.Contains(strings.ReplaceAll(text, "\n", " "), want) {
		return fmt.Errorf("testdata/cases/README.md does not list the calls %s", want)
	}
	return contains(files, "testdata/cases/README.md", fmt.Sprintf("`end` (`%v`, `%v` by Goexit", history.Panicked, history.Exited))
}

var (
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan   = regexp.MustCompile("`[^`\n]*`") // NewPromise[T](ex) is no link
	notInSlugs = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// links follows every link that stays in the repository.
func links(files texts) error {
	plain := texts{}
	for name, text := range files {
		plain[name] = codeSpan.ReplaceAllString(text, "")
	}
	return eachMatch(plain, link, func(name, target string) error {
		if strings.Contains(target, "://") {
			return nil
		}
		file, heading, _ := strings.Cut(target, "#")
		linked := name
		if file != "" {
			linked = path.Join(path.Dir(name), file)
		}
		if heading == "" { // a directory has none
			_, err := os.Stat(filepath.Join(root, linked))
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, linked))
		if err != nil {
			return err
		}
		if hasHeading(string(data), heading) {
			return nil
		}
		return fmt.Errorf("%s has no heading #%s", linked, heading)
	})
}

// hasHeading reports whether a heading of the text gets that anchor.
func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		if title, found := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); found && line[0] == '#' {
			slug := notInSlugs.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			if strings.ReplaceAll(slug, " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}
