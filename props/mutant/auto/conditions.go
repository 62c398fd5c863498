package auto

import (
	"go/ast"
	"go/token"
)

// conditionOf is the condition that decides where a statement goes on, or nil.
func conditionOf(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.IfStmt:
		return n.Cond
	case *ast.ForStmt:
		return n.Cond
	}
	return nil
}

// isLogical reports whether e is x && y or x || y.
func isLogical(e ast.Node) bool {
	b, ok := e.(*ast.BinaryExpr)
	return ok && (b.Op == token.LAND || b.Op == token.LOR)
}

func findNegate(f *finder, n ast.Node) {
	if c := conditionOf(n); c != nil {
		f.site(c.Pos(), replace(c, f.negated(c)))
	}
	if isLogical(n) {
		b := n.(*ast.BinaryExpr)
		for _, side := range []ast.Expr{b.X, b.Y} {
			if !isLogical(ast.Unparen(side)) { // its own sides are sites
				f.site(side.Pos(), replace(side, f.negated(side)))
			}
		}
	}
}

// opposites are the comparisons that are negated as themselves, for readers of a report.
var opposites = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
}

func (f *finder) negated(e ast.Expr) string {
	if b, ok := e.(*ast.BinaryExpr); ok && opposites[b.Op] != token.ILLEGAL {
		return f.text(b.X) + " " + opposites[b.Op].String() + " " + f.text(b.Y)
	}
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		return f.text(u.X)
	}
	return "!(" + f.text(e) + ")"
}

var boundaries = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

func findBoundary(f *finder, n ast.Node) {
	if b, ok := n.(*ast.BinaryExpr); ok && boundaries[b.Op] != "" {
		f.operatorOf(b, boundaries[b.Op])
	}
}

func findRelax(f *finder, n ast.Node) {
	if isLogical(n) {
		b := n.(*ast.BinaryExpr)
		f.site(b.OpPos, replace(b, f.text(b.X)), replace(b, f.text(b.Y)))
	}
}

func findLogical(f *finder, n ast.Node) {
	if isLogical(n) {
		b := n.(*ast.BinaryExpr)
		f.operatorOf(b, map[token.Token]string{token.LAND: "||", token.LOR: "&&"}[b.Op])
	}
}

// operatorOf adds the site at which a binary operator becomes another. The sides keep
// their parentheses: the change is of the tree and not of the precedence.
func (f *finder) operatorOf(b *ast.BinaryExpr, other string) {
	f.site(b.OpPos, replace(b, "("+f.text(b.X)+") "+other+" ("+f.text(b.Y)+")"))
}
