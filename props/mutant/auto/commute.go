package auto

import (
	"go/ast"
	"go/token"
	"go/types"
)

// commute reports whether two neighbouring statements do the same in either order, because each
// of them only computes with variables and fields, and neither writes what the other reads or
// writes. Their exchange is no mutant. Three things make that true:
//
//   - They call nothing, do not leave the list they are in, and use no channel, no lock and no
//     atomic. So another goroutine that may look at what they write, without a data race, looks
//     before both or after both.
//   - They name what they touch: a variable, or a field by its name, whatever it is a field of.
//     Elements, what a pointer points to as a whole, and whole structs can overlap with something
//     of another name, and are refused. Only append writes elements, behind the end of its slice:
//     two slices may share them, so only one of the statements may append.
//   - They cannot panic, except for a nil pointer in front of a field. A program that recovers
//     from that, and then uses what one of the statements wrote, could tell the orders apart.
//
// One of the two may be a defer of a function literal without arguments: it only says what is to run
// later.
func (f *finder) commute(a, b ast.Stmt) bool {
	one, other := access{of: f}, access{of: f}
	if onlyDefers(a) {
		return other.stmt(b)
	}
	if onlyDefers(b) {
		return one.stmt(a)
	}
	return one.stmt(a) && other.stmt(b) && !one.disturbs(other) && !other.disturbs(one) && !(one.appends && other.appends)
}

// onlyDefers reports whether s is a defer that computes nothing before the function returns.
func onlyDefers(s ast.Stmt) bool {
	d, is := s.(*ast.DeferStmt)
	if !is || len(d.Call.Args) > 0 {
		return false
	}
	_, literal := d.Call.Fun.(*ast.FuncLit)
	return literal
}

// access collects what a statement reads and writes.
type access struct {
	of            *finder
	reads, writes []types.Object
	appends       bool
}

// disturbs reports whether a writes something that b reads or writes.
func (a access) disturbs(b access) bool {
	touched := map[types.Object]bool{}
	for _, o := range append(b.reads, b.writes...) {
		touched[o] = true
	}
	for _, o := range a.writes {
		if touched[o] {
			return true
		}
	}
	return false
}

// stmt adds a statement. The result is false if it is none of those that commute speaks of.
func (a *access) stmt(s ast.Stmt) bool {
	switch s := s.(type) {
	case nil:
		return true
	case *ast.IncDecStmt:
		return a.place(s.X)
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE && s.Tok != token.QUO_ASSIGN && s.Tok != token.REM_ASSIGN &&
			all(s.Rhs, a.value) && all(s.Lhs, a.place)
	case *ast.BlockStmt:
		return all(s.List, a.stmt)
	case *ast.IfStmt:
		return s.Init == nil && a.value(s.Cond) && a.stmt(s.Body) && a.stmt(s.Else)
	}
	return false
}

func all[T any](list []T, is func(T) bool) bool {
	for _, v := range list {
		if !is(v) {
			return false
		}
	}
	return true
}

// place adds what is written. Operators like += read it too, which is the same to commute.
func (a *access) place(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		a.writes = append(a.writes, a.of.pkg.info.Uses[e])
		return e.Name != "_" && a.simple(e)
	case *ast.SelectorExpr:
		a.writes = append(a.writes, a.of.pkg.info.Uses[e.Sel])
		return a.simple(e) && a.base(e.X)
	}
	return false
}

// value adds what an expression reads.
func (a *access) value(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit, *ast.FuncLit: // a function that is not called yet reads nothing: it has variables, not their values
		return true
	case *ast.Ident, *ast.SelectorExpr:
		return a.simple(e) && a.base(e)
	case *ast.UnaryExpr:
		return e.Op != token.AND && e.Op != token.ARROW && a.value(e.X)
	case *ast.BinaryExpr:
		return e.Op != token.QUO && e.Op != token.REM && e.Op != token.SHL && e.Op != token.SHR &&
			a.comparable(e) && a.value(e.X) && a.value(e.Y)
	case *ast.CallExpr:
		return a.builtin(e) && all(e.Args, a.value)
	case *ast.CompositeLit:
		return a.fresh(e)
	}
	return false
}

// fresh adds what a new struct is made of. Other literals are refused: a map may panic, because of a
// key that it cannot compare.
func (a *access) fresh(e *ast.CompositeLit) bool {
	t := a.of.typeOf(e)
	if t == nil {
		return false
	}
	if _, is := t.Underlying().(*types.Struct); !is {
		return false
	}
	return all(e.Elts, func(part ast.Expr) bool {
		if field, ok := part.(*ast.KeyValueExpr); ok {
			part = field.Value
		}
		return a.value(part)
	})
}

// base adds a variable, a constant or a field, and what the field is of.
func (a *access) base(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return a.read(e)
	case *ast.SelectorExpr:
		if f, ok := a.of.pkg.info.Uses[e.Sel].(*types.Func); ok {
			return a.method(f) && a.base(e.X)
		}
		if x, ok := e.X.(*ast.Ident); ok {
			if _, isPackage := a.of.pkg.info.Uses[x].(*types.PkgName); isPackage {
				return a.read(e.Sel)
			}
		}
		return a.read(e.Sel) && a.base(e.X)
	}
	return false
}

// read adds what a name stands for, unless it is a function.
func (a *access) read(name *ast.Ident) bool {
	switch o := a.of.pkg.info.Uses[name].(type) {
	case *types.Var:
		a.reads = append(a.reads, o)
		return true
	case *types.Const, *types.Nil:
		return true
	}
	return false
}

// method reports whether a method value is nothing but the method and a pointer. Other receivers are
// copied or called.
func (a *access) method(f *types.Func) bool {
	recv := f.Signature().Recv()
	if recv == nil {
		return false
	}
	_, pointer := recv.Type().Underlying().(*types.Pointer)
	return pointer
}

// simple reports whether a value of e's type has no part with a name of its own.
func (a *access) simple(e ast.Expr) bool {
	t := a.of.typeOf(e)
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return false
	}
	_, generic := t.(*types.TypeParam)
	return !generic
}

// comparable reports whether an operation is no comparison that can panic: of two interfaces.
func (a *access) comparable(e *ast.BinaryExpr) bool {
	isNil := func(e ast.Expr) bool { return a.of.pkg.info.Types[e].IsNil() }
	isInterface := func(e ast.Expr) bool { t := a.of.typeOf(e); return t == nil || types.IsInterface(t) }
	return !isInterface(e.X) && !isInterface(e.Y) || isNil(e.X) || isNil(e.Y)
}

// builtin reports whether a call is one of the builtin functions that only compute, or the
// conversion of a number.
func (a *access) builtin(c *ast.CallExpr) bool {
	fun := a.of.pkg.info.Types[c.Fun]
	if fun.IsType() {
		to, ok := fun.Type.Underlying().(*types.Basic)
		return ok && to.Info()&types.IsNumeric != 0
	}
	if !fun.IsBuiltin() {
		return false
	}
	switch called(c) {
	case "len", "cap":
		t := a.of.typeOf(c.Args[0])
		_, channel := t.Underlying().(*types.Chan)
		return !channel
	case "min", "max":
		return true
	case "append":
		a.appends = true
		return true
	}
	return false
}
