package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is a module with a function, its test, and a table.
var small = map[string]string{
	"go.mod":      "module small\n\ngo 1.26\n",
	"p/p.go":      "package p\n\n// Do returns 1.\nfunc Do() int {\n\tn := 1\n\treturn n\n}\n",
	"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestDo(t *testing.T) {\n\tif Do() != 1 {\n\t\tt.Error(\"no\")\n\t}\n}\n",
}

// judged runs the command on the small module with a table of these breaks.
func judged(t *testing.T, table string, args ...string) (code int, out string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	for name, text := range small {
		write(name, text)
	}
	write("testdata/promises/p.txt", "package p\n[Do]\n"+table)
	var stdout, stderr strings.Builder
	code = run(append([]string{"-root", dir, "-parallel", "2"}, args...), &stdout, &stderr)
	return code, stdout.String() + stderr.String()
}

func TestBreaksAreJudged(t *testing.T) {
	const seen = "returns 1\n    test: TestDo\n    break: p.go Do: n := 1 => n := 2\n"
	const unseen = "is quiet\n    test: TestDo\n    break: p.go Do: n := 1 => n := 1; _ = 3\n"
	for name, c := range map[string]struct {
		table string
		code  int
		want  string
	}{
		"seen":             {seen, 0, "seen     line 3 Do: returns 1 [TestDo ]"},
		"seen twice":       {seen + strings.Replace(seen, "returns 1", "is fast", 1), 0, "seen     line 6 Do: is fast [TestDo ]"},
		"panic":            {strings.Replace(seen, "n := 2", `n := 1; panic("no")`, 1), 0, "[TestDo ]"},
		"not seen":         {seen + unseen, 1, "NOT SEEN line 6 Do: is quiet"},
		"does not build":   {strings.Replace(seen, "n := 2", "n := nil", 1), 2, "ERROR    line 3"},
		"does not apply":   {strings.Replace(seen, "n := 1 =>", "n := 7 =>", 1), 2, "want 1"},
		"no such test":     {strings.Replace(seen, "TestDo", "TestDone", 1), 2, "TestDone did not run"},
		"unknown evidence": {"returns 1\n    checked: TestDo\n", 2, "unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out := judged(t, c.table)
			require.Contains(t, out, c.want)
			require.Equal(t, c.code, code, out)
		})
	}
}

func TestSelectionAndCounts(t *testing.T) {
	const table = "returns 1\n    test: TestDo\n    break: p.go Do: n := 1 => n := 2\nis quiet\n    untestable: nobody listens\n"
	code, out := judged(t, table, "-counts")
	require.Equal(t, "p: 2 promises: 1 had a check, 0 got one, 0 withdrawn or corrected, 1 cannot be tested\n", out)
	require.Zero(t, code)
	for only, want := range map[string]int{"^Do$": 2, "returns": 2, "TestDo": 2, "nothing": 1} {
		_, out := judged(t, table, "-run", only)
		require.Equal(t, want, strings.Count(out, "\n"), "-run %s: %s", only, out)
	}
	code, out = judged(t, table, "-table", "p", "-counts")
	require.Contains(t, out, "p: 2 promises")
	require.Zero(t, code)
	code, out = judged(t, table, "-table", "q")
	require.Contains(t, out, `-table is "q"`)
	require.Equal(t, 2, code)
}

func TestMistakesOfTheCaller(t *testing.T) {
	for _, args := range [][]string{{"-run", "("}, {"-parallel", "0"}, {"x"}, {"-nonsense"}} {
		var stdout, stderr strings.Builder
		require.Equal(t, 2, run(args, &stdout, &stderr), args)
		require.Contains(t, stderr.String(), "promises: ")
	}
}
