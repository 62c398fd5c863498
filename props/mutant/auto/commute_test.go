package auto

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// commuteHead declares what the statements of TestCommute use.
const commuteHead = `package commute

import "sync/atomic"

type inner struct{ a, b int }

func (i *inner) method() int { return i.a }

type pair struct{ a, b int }

type outer struct {
	in    inner
	to    *inner
	n, m  int
	f     float64
	list  []int
	more  []int
	pairs []pair
	p     pair
	any   any
	ch    chan int
	count atomic.Int64
	call  func() int
}

var global int

func use(...any) {}

func (x *outer) method() int { return x.n }
func (p pair) copied() int   { return p.a }
`

// TestCommute has pairs of statements, and whether their exchange is a mutant.
func TestCommute(t *testing.T) {
	cases := []struct {
		a, b   string
		mutant bool
	}{
		{"x.n = 1", "x.m = 2", false},
		{"x.n = 1", "defer func() { x.n = 2 }()", false},
		{"defer func() { x.call() }()", "if x.n > 0 { x.m = 2 }", false},
		{"defer func() { x.n = 2 }()", "defer func() { x.n = 3 }()", true},
		{"x.n = 1", "defer use(x.n)", true},
		{"x.n = 1", "defer func(n int) { x.n = n }(x.n)", true},
		{"x.n = x.call()", "defer func() { x.n = 2 }()", true}, // the call may panic
		{"x.n++", "y.m += x.in.a", false},
		{"x.n, x.m = x.m, x.n", "global++", false},
		{"x.n = len(x.list) + cap(x.ch)*0", "x.m = 2", true}, // how full a channel is changes by itself
		{"x.n = len(x.list)", "x.m = min(x.in.a, 3)", false},
		{"x.list = nil", "x.to = y.to", false},
		{"x.f = float64(x.n)", "x.m = 2", false},
		{"x.call = y.method", "x.m = 2", false}, // a pointer and a method, which is not called
		{"x.list = append(x.list, x.n, 3)", "x.m = 2", false},
		{"x.list = append(x.list, y.list...)", "x.m--", false},
		{"x.pairs = append(x.pairs, pair{x.n, 3})", "x.m = 2", false},
		{"x.pairs = append(x.pairs, pair{b: x.n})", "x.m = 2", false},
		{"if x.n > 0 && x.any != nil { x.m = 2 } else { x.m = 3 }", "x.in.a = x.n", false},

		{"x.n = 1", "y.n = 2", true}, // x and y may be one
		{"x.list = append(x.list, x.n)", "x.n = 2", true},
		{"x.list = append(x.list, x.n)", "x.m = len(x.list)", true},
		{"x.list = append(x.list, 1)", "x.more = append(x.more, 2)", true}, // they may share an array
		{"x.pairs = append(x.pairs, pair{b: x.n})", "x.n = 2", true},
		{"x.pairs = append(x.pairs, pair{b: x.call()})", "x.m = 2", true},
		{"x.list = append(x.list, []int{x.n}...)", "x.m = 2", true}, // no struct
		{"x.n = 1", "x.m = x.n", true},
		{"x.m = y.n", "x.n = 1", true},
		{"x.n++", "x.n *= 2", true},
		{"if x.n > 0 { x.m = 2 }", "x.n = 1", true},
		{"x.to = y.to", "x.to.a = 1", true},
		{"x.in = inner{}", "x.in.a = 1", true},
		{"x.in = y.in", "x.m = 2", true}, // a whole struct: its parts have names of their own
		{"x.list[0] = 1", "x.list = nil", true},
		{"*x.to = inner{}", "x.in.a = 1", true},
		{"x.n = x.list[1]", "x.m = 2", true}, // may panic
		{"x.n = 1 / x.m", "x.in.a = 2", true},
		{"x.n = 1 << x.m", "x.in.a = 2", true},
		{"x.n /= y.m", "x.in.a = 2", true},
		{"if x.any == y.any { x.n = 1 }", "x.m = 2", true},
		{"x.n = x.call()", "x.m = 2", true},
		{"x.n = x.method()", "x.m = 2", true},
		{"x.call = x.to.method", "x.to = nil", true},
		{"x.call = x.in.method", "x.in.a = 2", false}, // the address of x.in
		{"x.call = x.p.copied", "x.p.a = 2", true},
		{"x.count.Store(1)", "x.m = 2", true},
		{"x.n = int(x.count.Load())", "x.m = 2", true},
		{"x.n = <-x.ch", "x.m = 2", true},
		{"x.ch <- 1", "x.m = 2", true},
		{"go use()", "x.m = 2", true},
		{"defer use()", "x.m = 2", true},
		{"x.n = 1", "if x.m > 0 { return }", true},
		{"x.call = func() int { return x.m }", "x.m = 2", false}, // it reads x.m when it is called
		{"x.call = func() int { return 1 }", "x.n = x.call()", true},
		{"x.call = func() int { return 1 }", "x.call = func() int { return 2 }", true},
	}
	var text strings.Builder
	text.WriteString(commuteHead)
	for i, c := range cases {
		fmt.Fprintf(&text, "\nfunc f%d(x, y *outer) {\n\t%s\n\t%s\n}\n", i, c.a, c.b)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module commute\n\ngo 1.26\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte(text.String()), 0o644))
	s, err := Load(dir, ".")
	require.NoError(t, err)
	sites := map[string]bool{}
	for _, site := range s.Sites {
		sites[site.Operator+site.Function] = true
	}
	for i, c := range cases {
		require.Equal(t, c.mutant, sites[fmt.Sprintf("swapf%d", i)], "%s; %s", c.a, c.b)
	}
}
