package overlay

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
)

// The functions of package sync/atomic are written in assembler. The overlay renames
// them, from F to rawF, and puts Go functions of their names before them that pass a
// point first.
//
// The point comes before the whole operation: a pointer store does a write barrier
// first, and nothing may come between the barrier and the store.

// atomicFiles are the Go files that declare them.
var atomicFiles = []string{"sync/atomic/doc.go", "sync/atomic/doc_64.go"}

// wrapAtomics returns the text of one of atomicFiles with the functions wrapped.
func wrapAtomics(name string, src []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	text := func(from, to token.Pos) string {
		return string(src[fset.Position(from).Offset:fset.Position(to).Offset])
	}
	var out bytes.Buffer
	at, wrapped := file.Pos(), 0
	out.WriteString(string(src[:fset.Position(at).Offset]))
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body != nil || f.Recv != nil || !f.Name.IsExported() {
			continue
		}
		wrapped++
		start := f.Type.Func
		out.WriteString(text(at, start))
		out.WriteString(wrapper(f, text(f.Type.Params.Pos(), f.Type.End())))
		at = f.End()
	}
	out.WriteString(string(src[fset.Position(at).Offset:]))
	if wrapped < 14 {
		return nil, fmt.Errorf("%s: found %d functions without a body, want at least 14", name, wrapped)
	}
	s := out.String()
	if !importsUnsafe(file) {
		s = strings.Replace(s, "\npackage atomic\n", "\npackage atomic; import \"unsafe\"\n", 1)
	}
	return []byte(s), nil
}

// wrapper returns the two functions that take the place of f. The comment before f,
// which may end with go:noescape, belongs to the raw one.
func wrapper(f *ast.FuncDecl, signature string) string {
	name := f.Name.Name
	var args []string
	for _, field := range f.Type.Params.List {
		for _, id := range field.Names {
			args = append(args, id.Name)
		}
	}
	call := "raw" + name + "(" + strings.Join(args, ", ") + ")"
	op, body := "ilvStore", call
	switch {
	case strings.HasPrefix(name, "Load"):
		op, body = "ilvLoad", "return "+call
	case strings.HasPrefix(name, "CompareAndSwap"):
		op, body = "ilvCAS", "if "+call+" { ilvChanged(); return true }; return false"
	case f.Type.Results != nil:
		body = "return " + call
	}
	return "func raw" + name + signature + "\n\n//go:nocheckptr\nfunc " + name + signature +
		" { ilvPoint(unsafe.Pointer(" + args[0] + "), " + op + "); " + body + " }"
}

// renames are the files that refer to the functions by their names in assembler.
var renames = []struct {
	file string
	from *regexp.Regexp
	to   string
}{
	{"sync/atomic/asm.s", regexp.MustCompile(`(?m)^TEXT ·([A-Z])`), "TEXT ·raw$1"},
	{"runtime/atomic_pointer.go", regexp.MustCompile(`sync/atomic\.([A-Z])`), "sync/atomic.raw$1"},
	{"runtime/race.go", regexp.MustCompile(`sync/atomic\.([A-Z])`), "sync/atomic.raw$1"},
	{"runtime/race_amd64.s", regexp.MustCompile(`sync∕atomic·([A-Z])`), "sync∕atomic·raw$1"},
	{"runtime/race_arm64.s", regexp.MustCompile(`sync∕atomic·([A-Z])`), "sync∕atomic·raw$1"},
}
