package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCoreHash: a kept result stays that of its core when comments or layout change, and
// only then.
func TestCoreHash(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	const name = "core/loop.go"
	data, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	text := string(data)
	hash := func(text string) string {
		t.Helper()
		h, err := CoreHash(root, map[string]string{name: text})
		require.NoError(t, err)
		return h
	}
	want, err := CoreHash(root, nil)
	require.NoError(t, err)
	require.Equal(t, want, hash(text))

	i := strings.Index(text, "\nfunc ")
	require.Positive(t, i)
	for what, changed := range map[string]string{
		"a last comment":  text + "\n// A comment at the end.\n",
		"a first comment": "// A comment at the beginning.\n\n" + text,
		"an empty line":   text[:i] + "\n" + text[i:],
		"spaces":          text[:i] + "\nfunc   " + text[i+len("\nfunc "):],
	} {
		require.Equal(t, want, hash(changed), what)
	}
	for what, changed := range map[string]string{
		"a declaration":      text + "\nvar another int\n",
		"a directive":        text[:i] + "\n//go:noinline" + text[i:],
		"a build constraint": "//go:build linux\n\n" + text,
		"the older form":     "// +build linux\n\n" + text,
	} {
		require.NotEqual(t, want, hash(changed), what)
	}
	_, err = CoreHash(root, map[string]string{name: text + "\n\"not closed"})
	require.ErrorContains(t, err, name)
}
