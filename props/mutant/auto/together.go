package auto

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Combined is a tree of sources with many picks in it, so that one build serves them all.
// Each function with picks has a copy of its body for each of them in front of its own body,
// and the program runs the copy that package chosen names as it starts:
//
//	func (e *Executor) wake() {
//		if eventideChosen.Number == 3 { ...; return }
//		...
//	}
//
// (This is called mutant schemata: Untch, Offutt and Harrold, 1993.) A copy is a block in the
// function and no function of its own, because recover works in the function that was
// deferred, and a test may look for the function's name in a stack.
//
// Functions with picks are no longer inlined, and their frames are larger. What measures
// that, such as a test that counts allocations, may fail without any mutant: run such a
// program with number 0 first.
type Combined struct {
	Changed map[string]string // the files, by their path from the root of the module

	numbers map[string]int
}

// Number is the number of a pick in the program, from 1, or 0 if the pick is not in it.
func (c Combined) Number(p Pick) int { return c.numbers[p.Name()] }

// chosenPath is the package that programs take the number from, and chosenName the name that
// it has in files with picks. No source has this name.
const (
	chosenPath = "eventide/props/mutant/chosen"
	chosenName = "eventideChosen"
)

// Together puts picks of one Source into one tree. Those that cannot share a program are not
// in it: a change outside of functions, and a function in which a block would mean something
// else than the body, see fits. The result type checks.
func Together(picks []Pick) (Combined, error) {
	c := Combined{Changed: map[string]string{}, numbers: map[string]int{}}
	copies := map[*file][]copied{}
	owner := map[*file]*pkg{}
	for i, p := range picks {
		body, ok := p.copy()
		if !ok {
			continue
		}
		body.number = i + 1
		if p.pkg.checks(map[*file][]byte{p.file: p.file.with([]copied{body})}) != nil {
			continue
		}
		c.numbers[p.Name()] = body.number
		copies[p.file] = append(copies[p.file], body)
		owner[p.file] = p.pkg
	}
	texts := map[*pkg]map[*file][]byte{}
	for f, all := range copies {
		p := owner[f]
		if texts[p] == nil {
			texts[p] = map[*file][]byte{}
		}
		texts[p][f] = f.with(all)
		c.Changed[f.name] = string(texts[p][f])
	}
	for p, changed := range texts {
		if err := p.checks(changed); err != nil {
			return c, fmt.Errorf("picks of %s together: %w", p.path, err)
		}
	}
	return c, nil
}

// copied is the body of a function with a pick in it.
type copied struct {
	number int
	at     int    // where it goes: the offset behind the brace that opens the function
	text   string // of the statements
	void   bool   // the function has no results
}

// copy is the body with the pick in it; ok is false if it cannot be a block in the function.
func (p Pick) copy() (body copied, ok bool) {
	e := p.ways[p.Way]
	text := p.Changed()[p.file.name]
	fset := token.NewFileSet()
	changed, err := parser.ParseFile(fset, p.file.name, text, parser.SkipObjectResolution)
	if err != nil {
		return body, false
	}
	fn, own := functionAround(changed, fset, e.start), functionAround(p.file.syntax, p.pkg.fset, e.start)
	if fn == nil || own == nil || !fits(fn) || !fits(own) {
		return body, false
	}
	from, to := fset.Position(fn.Body.Lbrace).Offset+1, fset.Position(fn.Body.Rbrace).Offset
	void := fn.Type.Results == nil
	return copied{at: p.pkg.fset.Position(own.Body.Lbrace).Offset + 1, text: text[from:to], void: void}, from <= e.start
}

// functionAround is the function whose body the offset is in, or nil.
func functionAround(f *ast.File, fset *token.FileSet, at int) *ast.FuncDecl {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Body != nil && fset.Position(fn.Body.Lbrace).Offset < at && at <= fset.Position(fn.Body.Rbrace).Offset {
			return fn
		}
	}
	return nil
}

// fits reports whether the body of a function means the same as a block in it. It does not if
// it has a label, which would be there twice, or if a := of the body reuses a parameter or a
// named result: in a block that declares another variable of this name.
func fits(fn *ast.FuncDecl) bool {
	names := map[string]bool{}
	for _, list := range []*ast.FieldList{fn.Recv, fn.Type.Params, fn.Type.Results} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				names[name.Name] = true
			}
		}
	}
	for _, s := range fn.Body.List {
		define, ok := s.(*ast.AssignStmt)
		if !ok || define.Tok != token.DEFINE {
			continue
		}
		if slices.ContainsFunc(define.Lhs, func(e ast.Expr) bool { return names[e.(*ast.Ident).Name] && e.(*ast.Ident).Name != "_" }) {
			return false
		}
	}
	labels := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		_, label := n.(*ast.LabeledStmt)
		labels = labels || label
		return !labels
	})
	return !labels
}

// with is the file with bodies in it.
func (f *file) with(all []copied) []byte {
	all = slices.SortedStableFunc(slices.Values(all), func(a, b copied) int { return cmp.Compare(a.at, b.at) })
	var text strings.Builder
	name := int(f.syntax.Name.End() - f.syntax.FileStart)
	fmt.Fprintf(&text, "%s; import %s %q", f.text[:name], chosenName, chosenPath)
	last := name
	for _, c := range all {
		text.Write(f.text[last:c.at])
		last = c.at
		end := ""
		if c.void {
			end = "return\n"
		}
		fmt.Fprintf(&text, "\nif %s.Number == %d {\n%s\n%s}\n", chosenName, c.number, c.text, end)
	}
	text.Write(f.text[last:])
	return []byte(text.String())
}

// chosenTypes is what the type checker needs to know of package chosen.
var chosenTypes = func() *types.Package {
	p := types.NewPackage(chosenPath, "chosen")
	p.Scope().Insert(types.NewVar(token.NoPos, p, "Number", types.Typ[types.Int]))
	p.MarkComplete()
	return p
}()

// withChosen finds package chosen, and all others where from finds them.
type withChosen struct{ from types.Importer }

func (w withChosen) Import(path string) (*types.Package, error) {
	if path == chosenPath {
		return chosenTypes, nil
	}
	return w.from.Import(path)
}
