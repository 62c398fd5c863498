package overlay

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
)

// A place is where an edit puts its text.
type place int

const (
	enter   place = iota // at the start of the function's body
	before               // before the statement
	after                // behind the statement
	into                 // at the start of the statement's block
	replace              // in the place of the statement or expression
	field                // at the end of the struct type
)

// An edit changes one function or type of one file of the Go distribution. It puts its
// text on a line that exists, so the lines of the file keep their numbers.
type edit struct {
	file string // below GOROOT/src
	in   string // function, method as (*T).M, or struct type
	at   place
	find string // syntax of the statement or expression; an empty block stands for any
	text string
	n    int // how often the syntax occurs in the function, if more than once
}

// An insertion replaces the bytes from..to of a file.
type insertion struct {
	from, to int
	text     string
}

// apply returns the text of a file with the edits made.
func apply(name string, src []byte, edits []edit) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var list []insertion
	var missing []error
	for _, e := range edits {
		more, err := e.insertions(fset, file)
		missing = append(missing, err)
		list = append(list, more...)
	}
	if err := errors.Join(missing...); err != nil {
		return nil, err
	}
	if usesUnsafe(list) && !importsUnsafe(file) {
		at := fset.Position(file.Name.End()).Offset
		list = append(list, insertion{at, at, `; import "unsafe"`})
	}
	slices.SortStableFunc(list, func(a, b insertion) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, ins := range list {
		if ins.from < at {
			return nil, fmt.Errorf("%s: two edits overlap", name)
		}
		out = append(append(out, src[at:ins.from]...), ins.text...)
		at = ins.to
	}
	return append(out, src[at:]...), nil
}

// insertions returns what the edit does to the file.
func (e edit) insertions(fset *token.FileSet, file *ast.File) ([]insertion, error) {
	root, body := declared(file, e.in)
	if root == nil {
		return nil, fmt.Errorf("%s: there is no %s", e.file, e.in)
	}
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	switch e.at {
	case enter:
		at := offset(body.Lbrace) + 1
		return []insertion{{at, at, " " + e.text + ";"}}, nil
	case field:
		at := offset(root.(*ast.StructType).Fields.Closing)
		return []insertion{{at, at, e.text}}, nil
	}
	pattern, err := parsePattern(e.find)
	if err != nil {
		return nil, err
	}
	nodes := find(body, pattern, e.at != replace)
	if want := max(e.n, 1); len(nodes) != want {
		return nil, fmt.Errorf("%s: %s: %q is there %d times, want %d", e.file, e.in, e.find, len(nodes), want)
	}
	var list []insertion
	for _, n := range nodes {
		from, to := offset(n.Pos()), offset(n.End())
		switch e.at {
		case before:
			list = append(list, insertion{from, from, e.text + "; "})
		case after:
			list = append(list, insertion{to, to, "; " + e.text})
		case replace:
			list = append(list, insertion{from, to, e.text})
		case into:
			block := blockOf(n)
			if block == nil {
				return nil, fmt.Errorf("%s: %s: %q has no block", e.file, e.in, e.find)
			}
			at := offset(block.Lbrace) + 1
			list = append(list, insertion{at, at, " " + e.text + ";"})
		}
	}
	return list, nil
}

func blockOf(n ast.Node) *ast.BlockStmt {
	switch n := n.(type) {
	case *ast.IfStmt:
		return n.Body
	case *ast.ForStmt:
		return n.Body
	case *ast.RangeStmt:
		return n.Body
	}
	return nil
}

// declared returns the function or struct type of a name, and the function's body.
func declared(file *ast.File, name string) (ast.Node, *ast.BlockStmt) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if funcName(d) == name && d.Body != nil {
				return d, d.Body
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && t.Name.Name == name {
					if s, ok := t.Type.(*ast.StructType); ok {
						return s, nil
					}
				}
			}
		}
	}
	return nil, nil
}

func usesUnsafe(list []insertion) bool {
	return slices.ContainsFunc(list, func(i insertion) bool {
		return slices.Contains(slices.Collect(words(i.text)), "unsafe")
	})
}

// words yields the identifiers of a text.
func words(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start := -1
		for i := 0; i <= len(text); i++ {
			letter := i < len(text) && (text[i] == '_' || text[i] >= '0' && text[i] <= '9' || text[i] >= 'A' && text[i] <= 'Z' || text[i] >= 'a' && text[i] <= 'z')
			switch {
			case letter && start < 0:
				start = i
			case !letter && start >= 0:
				if !yield(text[start:i]) {
					return
				}
				start = -1
			}
		}
	}
}

func importsUnsafe(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
		path, _ := strconv.Unquote(i.Path.Value)
		return path == "unsafe"
	})
}
