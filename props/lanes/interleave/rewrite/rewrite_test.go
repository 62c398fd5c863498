package rewrite

import (
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../../.."

// TestEveryOperationIsInstrumented counts the operations of core twice, in its source
// and in what the rewriter made of it, by types and not by the rewriter's own count.
// Each must have become one, and none of the real ones may be left.
func TestEveryOperationIsInstrumented(t *testing.T) {
	m := Module{Root: root}
	o, err := m.Rewrite()
	require.NoError(t, err)
	imp, err := m.importer()
	require.NoError(t, err)

	changed := map[string]string{}
	for name, text := range o.Files {
		changed[name] = string(text)
	}
	again := Module{Root: root, Changed: changed}
	withDet, err := again.importer(detPath, detPath+"/sync", detPath+"/atomic", detPath+"/time", detPath+"/context", detPath+"/runtime", detPath+"/rand", detPath+"/goid")
	require.NoError(t, err)
	want, plain, got, left := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, dir := range targets {
		if !strings.HasPrefix(dir, "core") {
			continue
		}
		before, err := m.load(dir)
		require.NoError(t, err)
		require.NoError(t, before.check(imp))
		after, err := again.load(dir)
		require.NoError(t, err)
		require.NoError(t, after.check(withDet))
		calls, constructs := tally(before, false)
		addTo(want, calls)
		addTo(plain, constructs)
		calls, constructs = tally(after, true)
		addTo(got, calls)
		addTo(left, constructs)
	}
	require.NotZero(t, want["sync.Mutex.Lock"], "core has mutexes: %v", want)
	require.NotEmpty(t, plain)
	require.Equal(t, want, got)
	require.Empty(t, left, "constructs of the language that nothing schedules")
	t.Logf("%d operations and %d constructs of core, all of them instrumented", sum(want), sum(plain))

	constructs := Counts{}
	for name, counts := range o.Counts {
		if strings.HasPrefix(name, "core/") {
			for _, k := range []string{"go", "send", "receive", "case", "close", "select", "make", "len", "cap", "range", "range map"} {
				constructs[k] += counts[k]
			}
		}
	}
	require.Equal(t, sum(plain), constructs.Total(), "the rewriter's count of constructs: %v, the AST's: %v", constructs, plain)
}

func sum(m map[string]int) (n int) {
	for _, k := range m {
		n += k
	}
	return n
}

func addTo(all, more map[string]int) {
	for k, n := range more {
		all[k] += n
	}
}

// tally counts uses of functions and methods of the packages that have look-alikes,
// under the names of the real ones, and the constructs of the language that schedule.
func tally(p *pkg, rewritten bool) (operations, constructs map[string]int) {
	operations, constructs = map[string]int{}, map[string]int{}
	for _, obj := range p.info.Uses {
		f, ok := obj.(*types.Func)
		if !ok || f.Pkg() == nil {
			continue
		}
		path := f.Pkg().Path()
		if rewritten {
			for from, to := range lookAlikes {
				if path == to {
					operations[qualified(f, from)]++
				}
			}
			continue
		}
		if _, replaced := lookAlikes[path]; replaced && isOperation(lookAlikes, f) {
			operations[qualified(f, path)]++
		}
	}
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if kind := construct(p.info, n); kind != "" {
				constructs[kind]++
			}
			return true
		})
	}
	return operations, constructs
}

func qualified(f *types.Func, path string) string {
	name := path + "."
	if recv := f.Type().(*types.Signature).Recv(); recv != nil {
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := t.(*types.Named); ok {
			of := n.Obj().Name()
			if of == "integer" && n.TypeArgs().Len() == 1 { // the common part of Int32, Int64, ...
				arg := n.TypeArgs().At(0).String()
				of = strings.ToUpper(arg[:1]) + arg[1:]
			}
			name += of + "."
		}
	}
	return name + f.Name()
}

// construct names what a node is, if a scheduler has to know of it. The make that is
// an argument of det.Make is the rewriter's own.
func construct(info *types.Info, n ast.Node) string {
	isChan := func(e ast.Expr) bool {
		t := info.TypeOf(e)
		if t == nil {
			return false
		}
		_, ok := t.Underlying().(*types.Chan)
		return ok
	}
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go"
	case *ast.SendStmt:
		return "send"
	case *ast.SelectStmt:
		return "select"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "receive"
		}
	case *ast.RangeStmt:
		if isChan(n.X) {
			return "range"
		}
		if t := info.TypeOf(n.X); t != nil {
			if _, ok := t.Underlying().(*types.Map); ok {
				return "range map"
			}
		}
	case *ast.CallExpr:
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "det" && sel.Sel.Name == "Make" {
				if made, ok := n.Args[0].(*ast.CallExpr); ok {
					made.Fun = ast.NewIdent("made")
				}
			}
		}
		if id, ok := n.Fun.(*ast.Ident); ok {
			if _, builtin := info.Uses[id].(*types.Builtin); !builtin {
				return ""
			}
			switch {
			case id.Name == "close":
				return "close"
			case id.Name == "make" && isChan(n):
				return "make"
			case (id.Name == "len" || id.Name == "cap") && isChan(n.Args[0]):
				return id.Name
			}
		}
	}
	return ""
}

// TestNoProductionPackageDependsOnTheScheduler asks the go command.
func TestNoProductionPackageDependsOnTheScheduler(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./core/...", "./model")
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	require.NotContains(t, string(out), "props/lanes/interleave")
}

// rewriteText rewrites one file of a package by the rules of core.
func rewriteText(t *testing.T, src string) (string, []error) {
	t.Helper()
	p := &pkg{dir: "core", path: "eventide/core", fset: token.NewFileSet()}
	f, err := parse(p.fset, "/module/core/x.go", []byte(src))
	require.NoError(t, err)
	p.files = []*ast.File{f}
	require.NoError(t, p.check(importer.ForCompiler(p.fset, "source", nil)))
	x := &file{fset: p.fset, ast: f, src: []byte(src), name: "/module/core/x.go", imports: lookAlikes, info: p.info, counts: Counts{}}
	x.rewrite()
	return string(x.output()), x.errs
}

func TestConstructs(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"send", "c <- 1", "det.To(c).Send(1)"},
		{"receive", "<-c", "det.Recv(c)"},
		{"two values", "v, ok := <-c; _, _ = v, ok", "v, ok := det.Recv2(c); _, _ = v, ok"},
		{"nested", "d <- <-c", "det.To(d).Send(det.Recv(c))"},
		{"range", "for range c {}", "for range det.Range(c) {}"},
		{"range of a map", "for k := range m { _ = k }", "for k := range det.Ordered(m) { _ = k }"},
		{"close", "close(c)", "det.Close(c)"},
		{"len and cap", "_ = len(c) + cap(c) + len(m)", "_ = det.Len(c) + det.Cap(c) + len(m)"},
		{"go literal", "go func() { c <- 1 }()", "det.Go(func() { det.To(c).Send(1) })"},
		{"go call", "go f(nil, <-c)", "{ det_1, det_2 := f, det.Recv(c); det.Go(func() { det_1(nil, det_2) }) }"},
		{"select", "select { case v := <-c: _ = v; case d <- 2: default: }", "switch det_1, det_2 := det.From(c), det.To(d).Put(2); det.Select(true, det_1, det_2) { case 0: v := det_1.Get(); _ = v; case 1: default: }"},
		{"select without a default", "select { case <-c: }", `switch det_1 := det.From(c); det.Select(false, det_1) { case 0: default: panic("det: no such case") }`},
		{"empty select", "select {}", "det.Forever()"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, errs := rewriteText(t, "package core\n\nfunc f(p *int, n int) {}\n\nfunc g(c, d chan int, m map[int]int) {\n\t"+tt.body+"\n}\n")
			require.Empty(t, errs)
			want := "//line /module/core/x.go:1\npackage core; import det \"eventide/props/lanes/interleave/det\"\n\nfunc f(p *int, n int) {}\n\nfunc g(c, d chan int, m map[int]int) {\n\t" + tt.want + "\n}\n"
			require.Equal(t, strings.Join(strings.Fields(want), " "), strings.Join(strings.Fields(got), " "))
			require.Equal(t, strings.Count(want, "\n"), strings.Count(got, "\n"), "lines are kept")
		})
	}
}

// TestWhatIsNotListedIsRefused: with file and line.
func TestWhatIsNotListedIsRefused(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"an import", "package core\n\nimport \"os\"\n\nvar _ = os.Args\n", "x.go:3:8: import of os"},
		{"another import", "package core\n\nimport \"expvar\"\n\nvar _ = expvar.Get\n", "x.go:3:8: import of expvar"},
		{"a member", "package core\n\nimport \"iter\"\n\nfunc f(s iter.Seq[int]) { iter.Pull(s) }\n", "x.go:5:27: iter.Pull"},
		{"a map without an order", "package core\n\nfunc f(m map[any]int) {\n\tfor range m {\n\t}\n}\n", "x.go:4:2: range over a map"},
		{"a pipe", "package core\n\nimport \"io\"\n\nfunc f() { io.Pipe() }\n", "x.go:5:12: io.Pipe"},
		{"a channel by reflection", "package core\n\nimport \"reflect\"\n\nfunc f(v reflect.Value) { v.Recv() }\n", "x.go:5:27: reflect.Recv"},
		{"a generic channel", "package core\n\nfunc f[C ~chan int](c C) {\n\tfor range c {\n\t}\n}\n", "x.go:4:12: a channel of type parameter C"},
		{"a generic channel by name", "package core\n\ntype any2 interface{ ~chan int }\n\nfunc f[C any2](c C) int { return len(c) }\n", "x.go:5:38: a channel of type parameter C"},
		{"go of a builtin", "package core\n\nfunc f(c chan int) {\n\tgo close(c)\n}\n", "x.go:4:2: go with a builtin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, errs := rewriteText(t, tt.src)
			require.NotEmpty(t, errs)
			require.Contains(t, errs[0].Error(), tt.want)
		})
	}
}

// TestKernelFilesExist: a reason for a file that is gone is out of date.
func TestKernelFilesExist(t *testing.T) {
	for name := range kernelFiles {
		require.FileExists(t, filepath.Join(root, "core", name))
	}
}
