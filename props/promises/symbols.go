package promises

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
)

// symbols are what a table may list: true for those that it must list.
type symbols map[string]bool

func (t Table) symbols(root string) (symbols, error) {
	dir := filepath.Join(root, t.Package)
	if !t.Pages {
		return symbolsOf(dir)
	}
	promising := map[string]bool{}
	for _, s := range t.Symbols {
		page, _, _ := strings.Cut(s.Name, ": ")
		promising[page] = promising[page] || len(s.Promises) > 0
	}
	return partsOf(dir, promising)
}

// symbolsOf returns the exported symbols of a package: true for those that have a doc comment
// of their own. A comment of a group of constants or variables belongs to the first of the
// group.
func symbolsOf(dir string) (symbols, error) {
	s := symbols{}
	err := eachFile(dir, func(name string) bool { return !strings.HasSuffix(name, "_test.go") }, func(path string) error {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if f.Doc != nil {
			s.add(PackageComment, f.Doc)
		}
		for _, d := range f.Decls {
			s.declaration(d)
		}
		return nil
	})
	return s, err
}

func (s symbols) add(name string, doc *ast.CommentGroup) { s[name] = s[name] || doc != nil }

func (s symbols) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			receiver := receiverOf(d)
			if !ast.IsExported(receiver) {
				return
			}
			name = receiver + "." + name
		}
		if d.Name.IsExported() {
			s.add(name, d.Doc)
		}
	case *ast.GenDecl:
		doc := d.Doc
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				doc = s.values(spec, doc)
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					s.typeSpec(spec, doc)
				}
			}
		}
	}
}

// values adds constants or variables. doc is the comment of the group, as long as no symbol
// has it; values returns what is left of it.
func (s symbols) values(spec *ast.ValueSpec, doc *ast.CommentGroup) *ast.CommentGroup {
	for _, name := range spec.Names {
		if !name.IsExported() {
			continue
		}
		own := spec.Doc
		if own == nil {
			own, doc = doc, nil
		}
		s.add(name.Name, own)
	}
	return doc
}

func (s symbols) typeSpec(spec *ast.TypeSpec, doc *ast.CommentGroup) {
	if spec.Doc != nil {
		doc = spec.Doc
	}
	s.add(spec.Name.Name, doc)
	methods, ok := spec.Type.(*ast.InterfaceType)
	if !ok {
		return
	}
	for _, m := range methods.Methods.List {
		for _, name := range m.Names {
			s.add(spec.Name.Name+"."+name.Name, m.Doc)
		}
	}
}

// receiverOf returns the name of the type of a method.
func receiverOf(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	return t.(*ast.Ident).Name
}

// documented returns the symbols that have a comment, in order.
func (s symbols) documented() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if s[name] {
			names = append(names, name)
		}
	}
	return names
}

var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Example)\w+)\(`)

// testsOf returns the names of the tests and examples of a package.
func testsOf(dir string) (map[string]bool, error) {
	names := map[string]bool{}
	return names, eachFile(dir, func(name string) bool { return strings.HasSuffix(name, "_test.go") }, func(path string) error {
		text, err := os.ReadFile(path)
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
		return err
	})
}

// eachFile calls f with the path of each file of Go in dir that want accepts.
func eachFile(dir string, want func(name string) bool, f func(path string) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") && want(e.Name()) {
			if err := f(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Apply returns the text of the file with the break in it.
func (b Break) Apply(root string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, b.File))
	if err != nil {
		return "", err
	}
	text := string(data)
	from, to := 0, len(text)
	if b.Func != "-" {
		if from, to, err = functionIn(text, b.Func); err != nil {
			return "", fmt.Errorf("%s: %w", b.File, err)
		}
	}
	if n := strings.Count(text[from:to], b.Old); n != 1 {
		return "", fmt.Errorf("%s %s has %d times %q, want 1", b.File, b.Func, n, b.Old)
	}
	return text[:from] + strings.Replace(text[from:to], b.Old, b.New, 1) + text[to:], nil
}

// functionIn returns where a function is in a file. name has the receiver in front if the
// file has several functions of that name.
func functionIn(text, name string) (from, to int, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return 0, 0, err
	}
	found := 0
	for _, d := range f.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok || d.Name.Name != name && (d.Recv == nil || receiverOf(d)+"."+d.Name.Name != name) {
			continue
		}
		found++
		from, to = fset.Position(d.Pos()).Offset, fset.Position(d.End()).Offset
	}
	if found != 1 {
		return 0, 0, fmt.Errorf("has %d functions %s, want 1", found, name)
	}
	return from, to, nil
}
