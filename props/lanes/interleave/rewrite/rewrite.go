// Package rewrite turns the source of core into one whose synchronisation
// operations ask a scheduler, for go build -overlay. The source on disk has no
// hook: what is explored is the text that ships, with its line numbers.
//
// Imports of sync, sync/atomic, time, context, runtime, math/rand/v2 and goid are
// pointed at look-alikes; go statements, sends, receives, ranges over channels,
// selects, close, len and cap of channels become calls. Whatever is on no list is
// an error with file and line: an operation that is not scheduled would make every
// result of the lane worthless.
package rewrite

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Counts says how many operations of each kind a file has.
type Counts map[string]int

// Total is the sum.
func (c Counts) Total() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// file rewrites one file. The rewritten text of a node is made of those of its
// children, so that operations may nest.
type file struct {
	fset    *token.FileSet
	ast     *ast.File
	src     []byte
	name    string // what positions say
	imports map[string]string
	info    *types.Info
	counts  Counts
	edits   []edit
	errs    []error
	serial  int
	stack   []ast.Node
	usesDet bool
}

// edit replaces [from, to) of the source.
type edit struct {
	from, to int
	text     string
}

func (f *file) errorf(n ast.Node, format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf("%s: %s", f.fset.Position(n.Pos()), fmt.Sprintf(format, args...)))
}

func (f *file) offset(p token.Pos) int { return f.fset.Position(p).Offset }

// text returns the rewritten source of [from, to).
func (f *file) text(from, to token.Pos) string { return f.between(f.offset(from), f.offset(to)) }

func (f *file) between(from, to int) string {
	sort.SliceStable(f.edits, func(i, j int) bool { return f.edits[i].from < f.edits[j].from })
	var b strings.Builder
	at := from
	for _, e := range f.edits {
		if e.from < from || e.to > to || e.from < at {
			continue
		}
		b.Write(f.src[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.Write(f.src[at:to])
	return b.String()
}

func (f *file) node(n ast.Node) string { return f.text(n.Pos(), n.End()) }

// replace makes text the rewritten source of [from, to), children included.
func (f *file) replace(n ast.Node, from, to token.Pos, text string) {
	a, z := f.offset(from), f.offset(to)
	if got, want := strings.Count(text, "\n"), bytes.Count(f.src[a:z], []byte("\n")); got > want {
		f.errorf(n, "the rewritten text has %d lines, want %d", got+1, want+1)
	} else {
		text += strings.Repeat("\n", want-got)
	}
	kept := f.edits[:0]
	for _, e := range f.edits {
		if e.from < a || e.to > z {
			kept = append(kept, e)
		}
	}
	f.edits = append(kept, edit{a, z, text})
}

// rewrite visits the nodes from the inside out.
func (f *file) rewrite() {
	f.importSpecs()
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if n != nil {
			f.stack = append(f.stack, n)
			return true
		}
		last := f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		f.visit(last)
		return true
	})
}

func (f *file) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.GoStmt:
		f.goStmt(n)
	case *ast.SendStmt:
		f.send(n)
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			f.receive(n)
		}
	case *ast.RangeStmt:
		if f.isChan(n.X) {
			f.count("range", n)
			f.replace(n, n.X.Pos(), n.X.End(), "det.Range("+f.node(n.X)+")")
		}
		f.mapRange(n)
	case *ast.SelectStmt:
		f.selectStmt(n)
	case *ast.CallExpr:
		f.call(n)
	case *ast.SelectorExpr:
		f.selector(n)
	}
}

func (f *file) count(kind string, _ ast.Node) {
	f.counts[kind]++
	f.usesDet = true
}

func (f *file) parent() ast.Node {
	for i := len(f.stack) - 1; i >= 0; i-- {
		if _, ok := f.stack[i].(*ast.ParenExpr); !ok {
			return f.stack[i]
		}
	}
	return nil
}

func (f *file) send(n *ast.SendStmt) {
	if c, ok := f.parent().(*ast.CommClause); ok && c.Comm == n {
		return // selectStmt
	}
	f.count("send", n)
	f.replace(n, n.Pos(), n.End(), "det.To("+f.node(n.Chan)+").Send("+f.node(n.Value)+")")
}

func (f *file) receive(n *ast.UnaryExpr) {
	name := "det.Recv("
	switch p := f.parent().(type) {
	case *ast.AssignStmt:
		if len(p.Lhs) == 2 && len(p.Rhs) == 1 {
			name = "det.Recv2("
		}
		if f.inComm(p) {
			return // selectStmt
		}
	case *ast.ValueSpec:
		if len(p.Names) == 2 && len(p.Values) == 1 {
			name = "det.Recv2("
		}
	case *ast.ExprStmt:
		if f.inComm(p) {
			return
		}
	}
	f.count("receive", n)
	f.replace(n, n.Pos(), n.End(), name+f.node(n.X)+")")
}

// inComm reports whether a statement is what a case of a select does.
func (f *file) inComm(s ast.Stmt) bool {
	for i := len(f.stack) - 1; i >= 0; i-- {
		if c, ok := f.stack[i].(*ast.CommClause); ok {
			return c.Comm == s
		}
	}
	return false
}

// mapRange gives a range over a map an order, that of the keys: the runtime's is by
// chance, and a schedule has to run the same way twice.
func (f *file) mapRange(n *ast.RangeStmt) {
	t := f.info.TypeOf(n.X)
	if t == nil {
		return
	}
	m, ok := t.Underlying().(*types.Map)
	if !ok {
		return
	}
	if b, ok := m.Key().Underlying().(*types.Basic); !ok || b.Info()&types.IsOrdered == 0 {
		f.errorf(n, "range over a map with keys of type %v, which have no order: it would not run the same way twice", m.Key())
		return
	}
	f.count("range map", n)
	f.replace(n, n.X.Pos(), n.X.End(), "det.Ordered("+f.node(n.X)+")")
}

func (f *file) call(n *ast.CallExpr) {
	id, ok := ast.Unparen(n.Fun).(*ast.Ident)
	if !ok {
		return
	}
	if _, ok := f.info.Uses[id].(*types.Builtin); !ok {
		return
	}
	var with string
	switch {
	case id.Name == "close":
		with = "det.Close"
	case id.Name == "len" && f.isChan(n.Args[0]):
		with = "det.Len"
	case id.Name == "cap" && f.isChan(n.Args[0]):
		with = "det.Cap"
	case id.Name == "make" && f.isChan(n):
		f.count("make", n)
		f.replace(n, n.Pos(), n.End(), "det.Make("+f.node(n)+")")
		return
	default:
		return
	}
	f.count(id.Name, n)
	f.replace(n, n.Fun.Pos(), n.Fun.End(), with)
}

// isChan reports whether e is a channel. One whose type is a type parameter is an error:
// what there is of it in the overlay is not generic.
func (f *file) isChan(e ast.Expr) bool {
	t := f.info.TypeOf(e)
	if t == nil {
		return false
	}
	if p, ok := t.(*types.TypeParam); ok {
		if maybeChan(p.Constraint()) {
			f.errorf(e, "a channel of type parameter %s is not supported: name its type", p)
		}
		return false
	}
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// maybeChan reports whether a type that satisfies the constraint may be a channel.
func maybeChan(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Chan:
		return true
	case *types.Interface:
		return slices.ContainsFunc(slices.Collect(t.EmbeddedTypes()), maybeChan)
	case *types.Union:
		return slices.ContainsFunc(slices.Collect(t.Terms()), func(term *types.Term) bool { return maybeChan(term.Type()) })
	}
	return false
}

func (f *file) fresh() string {
	f.serial++
	return "det_" + strconv.Itoa(f.serial)
}

// goStmt evaluates the function and its arguments where the statement is, as Go does.
func (f *file) goStmt(n *ast.GoStmt) {
	f.count("go", n)
	call := n.Call
	if lit, ok := call.Fun.(*ast.FuncLit); ok && len(call.Args) == 0 && lit.Type.Results == nil {
		f.replace(n, n.Pos(), n.End(), "det.Go("+f.node(lit)+")")
		return
	}
	if t, ok := f.info.Types[call.Fun]; ok && (t.IsBuiltin() || t.IsType()) {
		f.errorf(n, "go with a builtin or a conversion is not supported: put it into a function")
		return
	}
	var names, values, args []string
	bind := func(text string) string {
		name := f.fresh()
		names, values = append(names, name), append(values, text)
		return name
	}
	fun := bind(f.node(call.Fun))
	for i, a := range call.Args {
		tv := f.info.Types[a]
		arg := ""
		if tv.Value != nil || tv.IsNil() {
			arg = f.node(a)
		} else {
			arg = bind(f.node(a))
		}
		if call.Ellipsis.IsValid() && i == len(call.Args)-1 {
			arg += "..."
		}
		args = append(args, arg)
	}
	f.replace(n, n.Pos(), n.End(), fmt.Sprintf("{ %s := %s; det.Go(func() { %s(%s) }) }",
		strings.Join(names, ", "), strings.Join(values, ", "), fun, strings.Join(args, ", ")))
}

// selector counts the operations of packages that have look-alikes, and refuses
// members that a look-alike does not have.
func (f *file) selector(n *ast.SelectorExpr) {
	obj := f.info.Uses[n.Sel]
	if obj == nil || obj.Pkg() == nil {
		return
	}
	path := obj.Pkg().Path()
	if why, bad := refused[path+"."+obj.Name()]; bad {
		f.errorf(n, "%s.%s is not scheduled: %s", path, obj.Name(), why)
	}
	if isOperation(f.imports, obj) {
		f.counts[path+"."+obj.Name()]++
	}
}

// isOperation reports whether an object is a function or method of a package that
// is replaced.
func isOperation(replaced map[string]string, obj types.Object) bool {
	if _, is := obj.(*types.Func); !is || obj.Pkg() == nil {
		return false
	}
	if recv := obj.Type().(*types.Signature).Recv(); recv != nil && values[types.TypeString(recv.Type(), nil)] {
		return false
	}
	_, ok := replaced[obj.Pkg().Path()]
	return ok
}

// output is the whole rewritten file.
func (f *file) output() []byte {
	body := f.between(0, len(f.src))
	at := f.offset(f.ast.Name.End())
	var b bytes.Buffer
	fmt.Fprintf(&b, "//line %s:1\n", f.name)
	head := body
	if f.usesDet {
		// No edit lies before the package's name.
		b.WriteString(head[:at])
		b.WriteString("; import det " + strconv.Quote(detPath))
		head = head[at:]
	}
	b.WriteString(head)
	return b.Bytes()
}

func parse(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
	return parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
}
