package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// exampled are the packages whose entry points have Examples.
var exampled = []string{
	"core", "core/tcp", "core/blocking", "core/process", "core/tracked", "core/watch", "core/frame", "core/tcp/tcptest",
	"props/exectest", "props/draintest", "props/interleave",
}

// shownElsewhere are entry points without an Example: the test that shows one, or the reason.
var shownElsewhere = map[string]string{
	"core.RefuseWhenFull":         "is the default",
	"core/process.DefaultSignals": "is the default, to append to; its comment shows how",
	"core/tcp.QuiesceOn":          "is Quiesce for one loop",
	"core/tcp.Embed":              "is for package tcptest, whose Connect users call",
	"core/tcp/tcptest.Connect":    "test core/tcp/tcptest/example_test.go TestShout",
	"props/exectest.Run":          "test props/exectest/example_test.go TestConformance",
	"props/draintest.Run":         "test docs/draining_test.go TestDrain",
	"props/draintest.Endpoint":    "test docs/draining_test.go TestDrain",
	"props/draintest.Fresh":       "is one of HTTP's clients",
	"props/draintest.KeepAlive":   "is one of HTTP's clients",
	"props/draintest.Pipelined":   "is one of HTTP's clients",
	"props/draintest.SlowBody":    "is one of HTTP's clients",
	"props/draintest.SlowReader":  "is one of HTTP's clients",
	"props/draintest.Upgraded":    "is one of HTTP's clients",
	"props/draintest.Lines":       "is one of TCP's clients",
	"props/draintest.FreshLine":   "is one of TCP's clients",
}

// TestEntryPointsHaveExamples: an Example with checked output calls each exported function of
// the packages that is no option, and uses each type whose comment says that its zero value is
// ready for use. go doc shows it.
func TestEntryPointsHaveExamples(t *testing.T) {
	listed := maps.Clone(shownElsewhere)
	for _, dir := range exampled {
		points, examples, err := entryPoints(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		if len(points) == 0 {
			t.Errorf("%s has no entry points", dir)
		}
		for _, name := range points {
			full := dir + "." + name
			why, except := listed[full]
			delete(listed, full)
			switch {
			case except && examples[name]:
				t.Errorf("%s has an Example: remove it from shownElsewhere", full)
			case except:
				if err := showsIt(why, name); err != nil {
					t.Errorf("%s: %v", full, err)
				}
			case !examples[name]:
				t.Errorf("no Example of %s has an Output and uses %s: write one, or add it to shownElsewhere with a reason", dir, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		t.Errorf("%s of shownElsewhere is no entry point", name)
	}
}

// TestExamplesCanBeMissing: what TestEntryPointsHaveExamples finds in three small packages.
func TestExamplesCanBeMissing(t *testing.T) {
	const source = `package p
type Option func()
func New() int { return 0 }
func WithName() Option { return nil }
// T does it. The zero T is ready for use.
type T struct{}
func (T) Method() {}
`
	for _, tt := range []struct{ test, want string }{
		{"func ExampleNew() {\n\tp.New()\n\t_ = p.T{}\n\t// Output:\n}", "New T: map[New:true T:true]"},
		{"func ExampleNew() {\n\tp.New()\n}", "New T: map[]"}, // it is not run
		{"func TestNew() {\n\tp.New()\n}", "New T: map[]"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"p.go": source, "p_test.go": "package p_test\n" + tt.test + "\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		points, examples, err := entryPoints(dir)
		if got := fmt.Sprintf("%s: %v", strings.Join(points, " "), examples); err != nil || got != tt.want {
			t.Errorf("%s\ngot %s, %v, want %s", tt.test, got, err, tt.want)
		}
	}
	for _, why := range []string{"", "test docs/draining_test.go TestNone", "test docs/none_test.go TestDrain"} {
		if showsIt(why, "Run") == nil {
			t.Errorf("the reason %q is valid", why)
		}
	}
}

// entryPoints returns the entry points of the package in dir, and the names of it that its
// Examples with output use.
func entryPoints(dir string) (points []string, examples map[string]bool, err error) {
	files, err := parsed(dir)
	if err != nil {
		return nil, nil, err
	}
	examples = map[string]bool{}
	name := ""
	for path, f := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		name = f.Name.Name
		for _, decl := range f.Decls {
			points = append(points, entryPointsOf(decl)...)
		}
	}
	for path, f := range files {
		if strings.HasSuffix(path, "_test.go") {
			usedByExamples(f, name, examples)
		}
	}
	slices.Sort(points)
	return slices.Compact(points), examples, nil
}

func parsed(dir string) (map[string]*ast.File, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	files := map[string]*ast.File{}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files[path] = f
	}
	return files, nil
}

func entryPointsOf(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() && !returnsOption(d) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			s, ok := spec.(*ast.TypeSpec)
			if ok && s.Name.IsExported() && (readyForUse(d.Doc, s.Name.Name) || readyForUse(s.Doc, s.Name.Name)) {
				names = append(names, s.Name.Name)
			}
		}
	}
	return names
}

// returnsOption reports whether a function returns an option only.
func returnsOption(d *ast.FuncDecl) bool {
	if d.Type.Results == nil || len(d.Type.Results.List) != 1 {
		return false
	}
	switch result := d.Type.Results.List[0].Type.(type) {
	case *ast.Ident:
		return result.Name == "Option"
	case *ast.SelectorExpr: // another package's, and watch.Labels is more than an option
		return result.Sel.Name == "Option" && strings.HasPrefix(d.Name.Name, "With")
	}
	return false
}

func readyForUse(doc *ast.CommentGroup, name string) bool {
	text := strings.Join(strings.Fields(doc.Text()), " ")
	return regexp.MustCompile(`[Tt]he zero (value|` + name + `) (is ready|is what|waits)`).MatchString(text)
}

// usedByExamples adds the names of package name that the Examples of f use.
func usedByExamples(f *ast.File, name string, used map[string]bool) {
	for _, decl := range f.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(d.Name.Name, "Example") || !hasOutput(f, d) {
			continue
		}
		addUses(d, name, used)
	}
}

func hasOutput(f *ast.File, d *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
		text := strings.ToLower(c.Text())
		return d.Pos() < c.Pos() && c.End() < d.End() && (strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:"))
	})
}

func addUses(d *ast.FuncDecl, name string, used map[string]bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == name {
				used[s.Sel.Name] = true
			}
		}
		return true
	})
}

// showsIt returns nil if why is a reason, or names a test that uses the entry point.
func showsIt(why, entryPoint string) error {
	if why == "" {
		return fmt.Errorf("shownElsewhere has no reason")
	}
	words := strings.Fields(why)
	if words[0] != "test" {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, words[1]), nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range f.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || d.Name.Name != words[2] {
			continue
		}
		for _, imported := range f.Imports {
			used := map[string]bool{}
			addUses(d, filepath.Base(strings.Trim(imported.Path.Value, `"`)), used)
			if used[entryPoint] {
				return nil
			}
		}
	}
	return fmt.Errorf("%s has no %s that calls %s", words[1], words[2], entryPoint)
}
