package auto

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

var arithmetic = map[token.Token]string{
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.REM: "*",
	token.SHL: ">>", token.SHR: "<<", token.AND: "|", token.OR: "&", token.AND_NOT: "&",
	token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*=",
	token.OR_ASSIGN: "&=", token.AND_ASSIGN: "|=", token.AND_NOT_ASSIGN: "|=",
	token.INC: "--", token.DEC: "++",
}

func findArithmetic(f *finder, n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if other := arithmetic[n.Op]; other != "" && !f.isText(n) {
			f.operatorOf(n, other)
		}
	case *ast.AssignStmt:
		if other := arithmetic[n.Tok]; other != "" && !f.isText(n.Lhs[0]) {
			f.token(n.TokPos, n.Tok, other)
		}
	case *ast.IncDecStmt:
		f.token(n.TokPos, n.Tok, arithmetic[n.Tok])
	}
}

// isText reports whether e is a string: texts for people are not what is measured.
func (f *finder) isText(e ast.Expr) bool {
	t := f.typeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// token adds the site at which a token becomes another.
func (f *finder) token(at token.Pos, is token.Token, other string) {
	f.site(at, change{at, at + token.Pos(len(is.String())), other})
}

func findOffByOne(f *finder, n ast.Node) {
	switch n := n.(type) {
	case *ast.IndexExpr:
		if f.isInteger(n.Index) {
			f.oneMoreOrLess(n.Index)
		}
	case *ast.SliceExpr:
		for _, bound := range []ast.Expr{n.Low, n.High} {
			if bound != nil {
				f.oneMoreOrLess(bound)
			}
		}
	case *ast.ReturnStmt:
		for _, r := range n.Results {
			if f.isInteger(r) && !f.isConstant(r) {
				f.oneMoreOrLess(r)
			}
		}
	}
}

// oneMoreOrLess adds the site of an integer, unless it is a number: that is a site of the
// operator constant.
func (f *finder) oneMoreOrLess(e ast.Expr) {
	if _, ok := e.(*ast.BasicLit); !ok {
		f.site(e.Pos(), replace(e, f.text(e)+" + 1"), replace(e, f.text(e)+" - 1"))
	}
}

func (f *finder) isConstant(e ast.Expr) bool { return f.pkg.info.Types[e].Value != nil }

func findConstant(f *finder, n ast.Node) {
	switch n := n.(type) {
	case *ast.BasicLit:
		switch n.Kind {
		case token.INT:
			ways := []change{replace(n, fmt.Sprintf("(%s + 1)", n.Value)), replace(n, fmt.Sprintf("(%s - 1)", n.Value))}
			if n.Value != "0" && n.Value != "1" {
				ways = append(ways, replace(n, "0"))
			}
			f.site(n.Pos(), ways...)
		case token.FLOAT:
			f.site(n.Pos(), replace(n, "0"), replace(n, fmt.Sprintf("(%s * 2)", n.Value)))
		}
	case *ast.Ident:
		if obj := f.pkg.info.Uses[n]; obj != nil && obj.Parent() == types.Universe {
			if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" {
				f.site(n.Pos(), replace(n, other))
			}
		}
	}
}

func findArguments(f *finder, n ast.Node) {
	c, ok := n.(*ast.CallExpr)
	if !ok || called(c) == "min" || called(c) == "max" { // their order means nothing
		return
	}
	for i := 0; i+1 < len(c.Args); i++ {
		a, b := c.Args[i], c.Args[i+1]
		if s, t := f.typeOf(a), f.typeOf(b); s != nil && t != nil && types.Identical(s, t) && !f.isText(a) && f.text(a) != f.text(b) {
			between := string(f.file.text[f.offset(a.End()):f.offset(b.Pos())])
			f.site(a.Pos(), change{a.Pos(), b.End(), f.text(b) + between + f.text(a)})
		}
	}
}
