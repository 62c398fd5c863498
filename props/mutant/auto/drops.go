package auto

import (
	"go/ast"
	"go/token"
	"strings"
)

// lists calls visit with each list of statements that n holds.
func lists(n ast.Node, visit func([]ast.Stmt)) {
	switch n := n.(type) {
	case *ast.BlockStmt:
		visit(n.List)
	case *ast.CaseClause:
		visit(n.Body)
	case *ast.CommClause:
		visit(n.Body)
	}
}

// drop adds the site at which a statement is left out.
func (f *finder) drop(s ast.Stmt) { f.site(s.Pos(), replace(s, "")) }

// dropAll drops each statement for which is holds.
func (f *finder) dropAll(n ast.Node, is func(ast.Stmt) bool) {
	lists(n, func(list []ast.Stmt) {
		for _, s := range list {
			if is(s) {
				f.drop(s)
			}
		}
	})
}

func findDropCall(f *finder, n ast.Node) {
	f.dropAll(n, func(s ast.Stmt) bool {
		return callOf(s) != nil && !isLock(s) && !isUnlock(s) && !isWake(s) && !isAtomicStore(s)
	})
}

func findDropStore(f *finder, n ast.Node) {
	f.dropAll(n, func(s ast.Stmt) bool { return isAtomicStore(s) || isAssignment(s) })
}

func findDropLock(f *finder, n ast.Node) {
	f.dropAll(n, func(s ast.Stmt) bool { return isLock(s) || isUnlock(s) })
}

func findDropWake(f *finder, n ast.Node) { f.dropAll(n, isWake) }

// stmtCall is the call of a statement, deferred or not.
func stmtCall(s ast.Stmt) *ast.CallExpr {
	if d, ok := s.(*ast.DeferStmt); ok {
		return d.Call
	}
	return callOf(s)
}

func isNamed(s ast.Stmt, names ...string) bool {
	c := stmtCall(s)
	if c == nil {
		return false
	}
	for _, name := range names {
		if called(c) == name {
			return true
		}
	}
	return false
}

func isLock(s ast.Stmt) bool   { return isNamed(s, "Lock", "RLock") }
func isUnlock(s ast.Stmt) bool { return isNamed(s, "Unlock", "RUnlock") }

// isWake reports whether a statement lets another goroutine go on: by a channel, a
// condition, a wait group, or a function with wake in its name.
func isWake(s ast.Stmt) bool {
	if _, ok := s.(*ast.SendStmt); ok {
		return true
	}
	if isNamed(s, "close", "Signal", "Broadcast", "Done") {
		return true
	}
	c := stmtCall(s)
	return c != nil && strings.Contains(strings.ToLower(called(c)), "wake")
}

func isAtomicStore(s ast.Stmt) bool {
	return isNamed(s, "Store", "Swap", "CompareAndSwap", "Add", "And", "Or") && len(stmtCall(s).Args) > 0
}

// isAssignment reports whether a statement changes a field, an element or what a pointer
// points to; not whether it declares a variable, or changes one that is local.
func isAssignment(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return false
		}
		for _, l := range s.Lhs {
			if isPlace(l) {
				return true
			}
		}
	case *ast.IncDecStmt:
		return isPlace(s.X)
	}
	return false
}

func isPlace(e ast.Expr) bool {
	switch ast.Unparen(e).(type) {
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		return true
	}
	return false
}

func findDropBranch(f *finder, n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		if len(n.Body.List) > 0 {
			f.site(n.Body.Pos(), replace(n.Body, "{ }"))
		}
		if n.Else != nil {
			f.site(n.Else.Pos(), change{n.Body.End(), n.Else.End(), ""})
		}
	case *ast.CaseClause:
		f.dropBody(n.Body)
	case *ast.CommClause:
		f.dropBody(n.Body)
	}
}

func (f *finder) dropBody(body []ast.Stmt) {
	if len(body) > 0 {
		f.site(body[0].Pos(), change{body[0].Pos(), body[len(body)-1].End(), ""})
	}
}
