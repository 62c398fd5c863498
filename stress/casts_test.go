package stress

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoCastsBetweenEnumerations: a value of one enumeration is never converted by its
// number into one of another package. Such a cast is right only as long as two lists of
// constants happen to have the same order. One type in package vocabulary, or a switch,
// says the same and stays true.
func TestNoCastsBetweenEnumerations(t *testing.T) {
	pkgs, exports := listExported(t)
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	checked := 0
	for _, p := range pkgs {
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		found, err := casts(fset, p.ImportPath, files, imports)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range found {
			t.Error(text)
		}
		checked += len(files)
	}
	if checked < 100 {
		t.Errorf("%d files were checked: the list of packages is not that of the module", checked)
	}
}

// exported is what `go list -export -json` says of a package.
type exported struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// listExported returns our own packages, and the export data of all packages.
func listExported(t *testing.T) (own []exported, exports map[string]string) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", module+"/...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.String())
	}
	exports = map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p exported
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return own, exports
		case err != nil:
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if within(p.ImportPath, module) {
			own = append(own, p)
		}
	}
}

// casts returns the conversions in a package that turn an enumeration into one of
// another package.
func casts(fset *token.FileSet, path string, files []*ast.File, imports types.Importer) (found []string, err error) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: imports, Sizes: types.SizesFor("gc", "amd64")}
	if _, err := conf.Check(path, fset, files, info); err != nil {
		return nil, err
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 || !info.Types[call.Fun].IsType() {
				return true
			}
			to, from := enumeration(info.Types[call.Fun].Type), source(info, call.Args[0])
			if to != nil && from != nil && to.Pkg() != from.Pkg() {
				found = append(found, fmt.Sprintf("%v: %s.%s is converted to %s.%s by its number",
					fset.Position(call.Pos()), from.Pkg().Name(), from.Name(), to.Pkg().Name(), to.Name()))
			}
			return true
		})
	}
	return found, nil
}

// source returns the enumeration that an expression is a value of, through conversions
// to plain integers.
func source(info *types.Info, e ast.Expr) *types.TypeName {
	if name := enumeration(info.Types[e].Type); name != nil {
		return name
	}
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(call.Args) == 1 && info.Types[call.Fun].IsType() {
		return source(info, call.Args[0])
	}
	return nil
}

// enumeration returns the name of an integer type of ours that has two constants or
// more, or nil.
func enumeration(t types.Type) *types.TypeName {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || !within(named.Obj().Pkg().Path(), module) {
		return nil
	}
	if b, ok := named.Underlying().(*types.Basic); !ok || b.Info()&types.IsInteger == 0 {
		return nil
	}
	constants := 0
	scope := named.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(c.Type(), named) {
			constants++
		}
	}
	if constants < 2 {
		return nil
	}
	return named.Obj()
}

// TestCastsAreSeen plants each form of such a cast.
func TestCastsAreSeen(t *testing.T) {
	fset := token.NewFileSet()
	packages := packages{}
	check := func(path, source string) []string {
		f, err := parser.ParseFile(fset, path+".go", source, 0)
		if err != nil {
			t.Fatal(err)
		}
		pkg, err := (&types.Config{Importer: packages}).Check(path, fset, []*ast.File{f}, nil)
		if err != nil {
			t.Fatal(err)
		}
		packages[path] = pkg
		found, err := casts(fset, path, []*ast.File{f}, packages)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	check(module+"/a", "package a; type E uint8; const (E0 E = iota; E1); type Size int; const One Size = 1")
	check(module+"/b", "package b; type F int; const (F0 F = iota; F1)")
	for expr, want := range map[string]int{
		"b.F(a.E1)":           1,
		"b.F(int(e))":         1,
		"b.F((uint8(e)))":     1,
		"b.F(1)":              0, // no enumeration is left
		"int(e)":              0, // a number for a person or a file
		"b.F(a.One)":          0, // a quantity
		"G(G1)":               0,
		"G(H1)":               0, // of one package: one hand writes both lists
		"len([]a.E{e, a.E0})": 0,
	} {
		source := "package c; import (\"eventide/a\"; \"eventide/b\"); type G int; const (G0 G = iota; G1); type H int; const (H0 H = iota; H1);" +
			"var e a.E; var _ b.F; var X = " + expr
		if found := check(module+"/c", source); len(found) != want {
			t.Errorf("%s: found %q, want %d", expr, found, want)
		}
	}
}

// packages is an importer of packages that were checked before.
type packages map[string]*types.Package

// Import implements types.Importer.
func (p packages) Import(path string) (*types.Package, error) {
	if pkg := p[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}
