package rewrite

import (
	"fmt"
	"go/ast"
	"strings"
)

// selectStmt becomes a switch over the case that happened:
//
//	switch det_1, det_2 := det.From(a), det.To(b).Put(v); det.Select(false, det_1, det_2) {
//	case 0: x := det_1.Get()
func (f *file) selectStmt(n *ast.SelectStmt) {
	f.count("select", n)
	if len(n.Body.List) == 0 {
		f.replace(n, n.Pos(), n.End(), "det.Forever()")
		return
	}
	var names, makes []string
	hasDefault := false
	for _, c := range n.Body.List {
		clause := c.(*ast.CommClause)
		if clause.Comm == nil {
			hasDefault = true
			f.replace(clause, clause.Case, clause.Colon, "default")
			continue
		}
		name := f.fresh()
		made, after := f.comm(clause, name)
		if strings.Contains(made, "\n") {
			f.errorf(clause, "the channel operation of a case has to be on one line")
		}
		f.replace(clause, clause.Case, clause.Colon+1, fmt.Sprintf("case %d:%s", len(names), after))
		names, makes = append(names, name), append(makes, made)
	}
	head := fmt.Sprintf("switch det.Select(%v) ", hasDefault)
	if len(names) > 0 {
		head = fmt.Sprintf("switch %s := %s; det.Select(%v, %s) ", strings.Join(names, ", "), strings.Join(makes, ", "), hasDefault, strings.Join(names, ", "))
	}
	f.replace(n, n.Select, n.Body.Lbrace, head)
	if !hasDefault { // so that a select which returns in every case still ends a function
		f.replace(n, n.Body.Rbrace, n.Body.Rbrace, `default: panic("det: no such case") `)
	}
}

// comm returns the case as a value, and what its clause begins with.
func (f *file) comm(c *ast.CommClause, name string) (made, after string) {
	switch s := c.Comm.(type) {
	case *ast.SendStmt:
		f.counts["case"]++
		return "det.To(" + f.node(s.Chan) + ").Put(" + f.node(s.Value) + ")", ""
	case *ast.ExprStmt:
		f.counts["case"]++
		return "det.From(" + f.node(received(s.X)) + ")", ""
	case *ast.AssignStmt:
		f.counts["case"]++
		get := ".Get()"
		if len(s.Lhs) == 2 {
			get = ".Get2()"
		}
		return "det.From(" + f.node(received(s.Rhs[0])) + ")",
			" " + f.text(s.Lhs[0].Pos(), s.Lhs[len(s.Lhs)-1].End()) + " " + s.Tok.String() + " " + name + get + ";"
	}
	f.errorf(c, "a case of an unknown form")
	return "", ""
}

func received(e ast.Expr) ast.Expr { return ast.Unparen(e).(*ast.UnaryExpr).X }
