package auto

import (
	"go/ast"
	"go/token"
	"go/types"
)

// An operator finds the places in a file that it can change.
type operator struct {
	name string // of one operator, as the reports show it
	what string // one sentence for people
	find func(*finder, ast.Node)
}

// operators are in the order in which reports show them.
var operators = []operator{
	{"negate", "a condition, or one side of && and ||, is negated", findNegate},
	{"boundary", "a comparison includes its boundary, or no longer does", findBoundary},
	{"relax", "one side of && or || is left out", findRelax},
	{"logical", "&& becomes ||, and || becomes &&", findLogical},
	{"arithmetic", "+ becomes -, * becomes /, ++ becomes --, << becomes >>, & becomes |", findArithmetic},
	{"off-by-one", "an index, a bound of a slice or an integer result is one more or one less", findOffByOne},
	{"constant", "a number is one more, one less or zero; true becomes false", findConstant},
	{"arguments", "two neighbouring arguments of one type change places", findArguments},
	{"drop-call", "a call whose result nobody uses is left out", findDropCall},
	{"drop-store", "an assignment to a field, an element or an atomic is left out", findDropStore},
	{"drop-lock", "a Lock or an Unlock is left out", findDropLock},
	{"drop-wake", "a wake-up, a signal, a send or a close is left out", findDropWake},
	{"drop-branch", "the body of an if, an else or a case is emptied", findDropBranch},
	{"control", "break becomes continue, continue becomes break, a return in a branch is left out", findControl},
	{"defer", "a deferred call runs at once", findDefer},
	{"swap", "two neighbouring statements that do not commute change places", findSwap},
	{"move-lock", "a Lock is one statement later, or an Unlock one statement earlier", findMoveLock},
	{"return-early", "a function returns zero values before a statement", findReturnEarly},
}

// Operators returns the name of each operator and the sentence that explains it, in the
// order of reports.
func Operators() [][2]string {
	var all [][2]string
	for _, o := range operators {
		all = append(all, [2]string{o.name, o.what})
	}
	return all
}

// A change replaces the bytes from start to end of a file.
type change struct {
	start, end token.Pos
	text       string
}

// finder walks over one file and collects the sites that an operator finds.
type finder struct {
	pkg      *pkg
	file     *file
	operator string
	function string // that is walked over, as in (*Executor).turn
	results  *types.Tuple

	sites []Site
}

// site adds a place with the ways in which it can be changed. Ways that are equal to the
// source as it is are left out, and a place without ways is none.
func (f *finder) site(at token.Pos, ways ...change) {
	s := Site{pkg: f.pkg, file: f.file, Operator: f.operator, Function: f.function, Line: f.pkg.fset.Position(at).Line}
	for _, w := range ways {
		start, end := f.offset(w.start), f.offset(w.end)
		if string(f.file.text[start:end]) != w.text {
			s.ways = append(s.ways, edit{start, end, w.text})
		}
	}
	if len(s.ways) > 0 {
		f.sites = append(f.sites, s)
	}
}

// replace is the change of a whole node.
func replace(n ast.Node, text string) change { return change{n.Pos(), n.End(), text} }

func (f *finder) offset(p token.Pos) int { return f.pkg.fset.Position(p).Offset }

// text is the source of a node.
func (f *finder) text(n ast.Node) string {
	return string(f.file.text[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) typeOf(e ast.Expr) types.Type { return f.pkg.info.TypeOf(e) }

// isInteger reports whether e is of an integer type.
func (f *finder) isInteger(e ast.Expr) bool {
	t := f.typeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// called returns the name of the function or method that a call calls, without what is
// before it: "Unlock" for e.mu.Unlock().
func called(c *ast.CallExpr) string {
	switch fun := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

// callOf returns the call that a statement is, or nil.
func callOf(s ast.Stmt) *ast.CallExpr {
	if e, ok := s.(*ast.ExprStmt); ok {
		if c, ok := ast.Unparen(e.X).(*ast.CallExpr); ok {
			return c
		}
	}
	return nil
}
