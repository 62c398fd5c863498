package overlay

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
)

// parsePattern returns the statement that text is. A pattern that is an expression is
// an *ast.ExprStmt.
func parsePattern(text string) (ast.Stmt, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+text+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", text, err)
	}
	body := file.Decls[0].(*ast.FuncDecl).Body.List
	if len(body) != 1 {
		return nil, fmt.Errorf("pattern %q: want one statement", text)
	}
	return body[0], nil
}

// find returns the nodes below root that have the pattern's syntax. An expression
// pattern finds expressions, wherever they are; any other pattern finds statements.
func find(root ast.Node, pattern ast.Stmt, statements bool) []ast.Node {
	var want ast.Node = pattern
	if e, ok := pattern.(*ast.ExprStmt); ok && !statements {
		want = e.X
	}
	var found []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n != nil && same(reflect.ValueOf(want), reflect.ValueOf(n)) {
			found = append(found, n)
			return false
		}
		return true
	})
	return found
}

var (
	posType     = reflect.TypeFor[token.Pos]()
	commentType = reflect.TypeFor[*ast.CommentGroup]()
	blockType   = reflect.TypeFor[*ast.BlockStmt]()
)

// same compares syntax without positions and comments. An empty block in the pattern
// stands for any block.
func same(pattern, node reflect.Value) bool {
	if pattern.Kind() == reflect.Interface {
		pattern = pattern.Elem()
	}
	if node.Kind() == reflect.Interface {
		node = node.Elem()
	}
	if !pattern.IsValid() || !node.IsValid() {
		return pattern.IsValid() == node.IsValid()
	}
	if pattern.Type() != node.Type() {
		return false
	}
	switch pattern.Type() {
	case posType, commentType:
		return true
	case blockType:
		if !pattern.IsNil() && !node.IsNil() && len(pattern.Interface().(*ast.BlockStmt).List) == 0 {
			return true
		}
	}
	switch pattern.Kind() {
	case reflect.Pointer:
		if pattern.IsNil() || node.IsNil() {
			return pattern.IsNil() == node.IsNil()
		}
		return same(pattern.Elem(), node.Elem())
	case reflect.Slice:
		if pattern.Len() != node.Len() {
			return false
		}
		for i := range pattern.Len() {
			if !same(pattern.Index(i), node.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range pattern.NumField() {
			if !same(pattern.Field(i), node.Field(i)) {
				return false
			}
		}
		return true
	}
	return pattern.Equal(node)
}

// funcName is the name of a function as an edit has it: runqput, or (*Mutex).Lock.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	star := ""
	if p, ok := t.(*ast.StarExpr); ok {
		star, t = "*", p.X
	}
	if index, ok := t.(*ast.IndexExpr); ok {
		t = index.X
	}
	if index, ok := t.(*ast.IndexListExpr); ok {
		t = index.X
	}
	id, ok := t.(*ast.Ident)
	if !ok {
		return f.Name.Name
	}
	if star == "" {
		return id.Name + "." + f.Name.Name
	}
	return "(*" + id.Name + ")." + f.Name.Name
}
