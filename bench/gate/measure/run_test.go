package measure

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	lines, err := parse([]byte("goos: linux\nUnit widgets better=higher\nBenchmarkTrip/impl=core-2  2000  694.2 ns/op  761.0 p99-ns  3 widgets  0 B/op\n" +
		"BenchmarkTrip/impl=core-2  2000  600 ns/op  765 p99-ns  5 widgets  0 B/op\nPASS\n"))
	require.NoError(t, err)
	require.Len(t, lines, 2)
	l := join(lines)
	require.Equal(t, "Trip/impl=core", l.Name)
	require.Equal(t, 2000, l.Ops)
	require.InDelta(t, 600, l.Values[Time], 1e-9, "the fastest")
	require.InDelta(t, 763, l.Values["p99-ns"], 1e-9, "the median")
	require.Equal(t, 1, l.Better["widgets"])
	require.Contains(t, l.Values, Bytes)
	require.Equal(t, `^BenchmarkExecute$/^impl=core$/^a\.b$`, Pattern("Execute/impl=core/a.b"))
}

// TestSame: equal binaries beside different files are not the same benchmark.
func TestSame(t *testing.T) {
	side := func(data string) Binary {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "testdata"), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "testdata", "in"), []byte(data), 0o666))
		path := filepath.Join(t.TempDir(), "binary")
		require.NoError(t, os.WriteFile(path, []byte("code"), 0o666))
		return Binary{Path: path, Dir: dir}
	}
	a, b, c := side("1"), side("1"), side("2")
	same, err := Same(a, b)
	require.NoError(t, err)
	require.True(t, same)
	same, err = Same(a, c)
	require.NoError(t, err)
	require.False(t, same)
	require.NoError(t, os.WriteFile(filepath.Join(b.Dir, "more"), nil, 0o666))
	same, err = Same(a, b)
	require.NoError(t, err)
	require.False(t, same)
}
