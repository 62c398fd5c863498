package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommit(t *testing.T) {
	root := t.TempDir()
	require.Equal(t, "unknown", Commit(root), "no repository")
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	do := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)
		out, err := git(root, args...)
		require.NoError(t, err, out)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatalf("the tests of this repository need git: %v", err)
	}
	do("init", "-q")
	write("a", "1")
	write("b", "1")
	do("add", "a", "b")
	do("commit", "-q", "-m", "first")
	write("c", "1")
	clean := Commit(root)
	require.Regexp(t, "^[0-9a-f]{40}$", clean, "c is not tracked")
	write("b", "2")
	require.Equal(t, clean+"+changes", Commit(root))
	require.Equal(t, clean, Commit(root, "b"))
	write("a", "2")
	require.Equal(t, clean+"+changes", Commit(root, "b"))
	require.Equal(t, clean, Commit(root, "b", "a"))
}
