package auto

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

func findControl(f *finder, n ast.Node) {
	switch n := n.(type) {
	case *ast.BranchStmt:
		if other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]; other != "" {
			f.token(n.TokPos, n.Tok, other)
		}
	case *ast.IfStmt:
		if last := len(n.Body.List) - 1; last >= 0 {
			if r, ok := n.Body.List[last].(*ast.ReturnStmt); ok {
				f.drop(r)
			}
		}
	}
}

func findDefer(f *finder, n ast.Node) {
	if d, ok := n.(*ast.DeferStmt); ok {
		f.site(d.Pos(), replace(d, f.text(d.Call)))
	}
}

// plain reports whether a statement neither declares anything nor decides where the
// function goes on. Such statements may change places.
func plain(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.IfStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	}
	return false
}

func findSwap(f *finder, n ast.Node) {
	lists(n, func(list []ast.Stmt) {
		for i := 0; i+1 < len(list); i++ {
			a, b := list[i], list[i+1]
			if plain(a) && plain(b) && !isLock(a) && !isUnlock(b) && !isUnlock(a) && !isLock(b) && !f.commute(a, b) {
				f.exchange(a, b)
			}
		}
	})
}

// exchange adds the site at which two neighbouring statements change places.
func (f *finder) exchange(a, b ast.Stmt) {
	between := string(f.file.text[f.offset(a.End()):f.offset(b.Pos())])
	if strings.Contains(between, "//") { // a comment at the end of a's line would hide b
		between = "\n"
	}
	f.site(a.Pos(), change{a.Pos(), b.End(), f.text(b) + between + f.text(a)})
}

func findMoveLock(f *finder, n ast.Node) {
	lists(n, func(list []ast.Stmt) {
		for i := 0; i+1 < len(list); i++ {
			a, b := list[i], list[i+1]
			if isLock(a) && callOf(a) != nil && !isUnlock(b) || isUnlock(b) && callOf(b) != nil && !isLock(a) {
				f.exchange(a, b)
			}
		}
	})
}

// findReturnEarly has a site before each statement of a function's body but the first, and
// but a return.
func findReturnEarly(f *finder, n ast.Node) {
	d, ok := n.(*ast.FuncDecl)
	if !ok || d.Body == nil || len(d.Body.List) < 2 {
		return
	}
	result := f.zeroResults()
	for _, s := range d.Body.List[1:] {
		if _, ok := s.(*ast.ReturnStmt); !ok {
			f.site(s.Pos(), change{s.Pos(), s.Pos(), "return " + result + "\n"})
		}
	}
}

// zeroResults are the zero values of the results of the function that is walked over.
func (f *finder) zeroResults() string {
	var zeros []string
	for v := range f.results.Variables() {
		zeros = append(zeros, "*new("+types.TypeString(v.Type(), f.qualifier)+")")
	}
	return strings.Join(zeros, ", ")
}

// qualifier names packages as the file imports them.
func (f *finder) qualifier(p *types.Package) string {
	if p == f.pkg.types {
		return ""
	}
	return p.Name()
}
