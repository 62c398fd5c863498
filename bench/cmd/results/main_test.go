package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestExitCodes(t *testing.T) {
	dir := t.TempDir() // the plots are written beside the raw files
	kept, page := filepath.Join(dir, "bench"), filepath.Join(dir, "RESULTS.md")
	require.NoError(t, os.CopyFS(kept, os.DirFS("../../../testdata/bench")))
	readme := filepath.Join(dir, "README.md")
	text, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(readme, text, 0o644))
	missed := filepath.Join(dir, "performance.md")
	text, err = os.ReadFile("../../../docs/performance.md")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(missed, text, 0o644))
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"-colour"}, 2, "flag provided but not defined"},
		{[]string{"-raw"}, 2, "flag needs an argument: -raw"},
		{[]string{"-h"}, 0, "directory of the raw files"},
		{[]string{"extra"}, 2, `got arguments ["extra"], want none`},
		{[]string{"-raw", t.TempDir(), "-page", page, "-readme", readme, "-missed", missed}, 1, "bench.json"},
		{[]string{"-raw", kept, "-page", page, "-readme", readme, "-missed", missed, "-check"}, 1, "no such file"},
		{[]string{"-raw", kept, "-page", page, "-readme", readme, "-missed", missed}, 0, ""},
		{[]string{"-raw", kept, "-page", page, "-readme", readme, "-missed", missed, "-check"}, 0, ""},
	} {
		var stderr bytes.Buffer
		require.Equal(t, c.code, run(c.args, &stderr), "%v: %s", c.args, stderr.String())
		require.Contains(t, stderr.String(), c.text)
	}
}
