package runner

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProcessSaysHowItEnded: the exit code, the limit of time and the output are told apart.
func TestProcessSaysHowItEnded(t *testing.T) {
	switch os.Getenv("EVENTIDE_RUNNER_CHILD") {
	case "hangs":
		select {}
	case "fails":
		fmt.Fprintln(os.Stderr, "bad news")
		os.Exit(3)
	case "ends":
		os.Exit(0)
	}
	for how, want := range map[string]Exit{
		"hangs": {Failed: true, Hung: true},
		"fails": {Failed: true, Output: "bad news\n"},
		"ends":  {},
	} {
		p := Process{Bin: os.Args[0], Args: []string{"-test.run", "^TestProcessSaysHowItEnded$"}, Env: []string{"EVENTIDE_RUNNER_CHILD=" + how}}
		if p.Limit = time.Minute; want.Hung {
			p.Limit = 100 * time.Millisecond
		}
		exit, err := p.Run()
		require.NoError(t, err, how)
		require.Equal(t, want, exit, how)
	}
	_, err := Process{Bin: filepath.Join(t.TempDir(), "missing")}.Run()
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestTestsAreBuiltWithTheOverlay: a binary has the changed files, and a package without tests,
// or one that does not compile, is an error that says so.
func TestTestsAreBuiltWithTheOverlay(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"go.mod": "module small\n\ngo 1.24\n", "p/p.go": "package p\n\nconst Good = true\n", "empty/e.go": "package empty\n",
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestGood(t *testing.T) {\n\tif !Good {\n\t\tt.Error(\"changed\")\n\t}\n}\n",
	} {
		path := filepath.Join(root, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	for text, want := range map[string]bool{"package p\n\nconst Good = true\n": false, "package p\n\nconst Good = false\n": true} {
		overlay, err := Overlay(root, t.TempDir(), map[string]string{"p/p.go": text})
		require.NoError(t, err)
		bin, err := Tests{Root: root, Package: "p", Bin: filepath.Join(t.TempDir(), "tests"), Overlay: overlay}.Build()
		require.NoError(t, err)
		exit, err := Process{Bin: bin}.Run()
		require.NoError(t, err)
		require.Equal(t, want, exit.Failed, exit.Output)
	}
	_, err := Tests{Root: root, Package: "empty", Bin: filepath.Join(t.TempDir(), "tests")}.Build()
	require.ErrorContains(t, err, "empty has no tests")
	overlay, err := Overlay(root, t.TempDir(), map[string]string{"p/p.go": "package p\n\nconst Good = 1 +\n"})
	require.NoError(t, err)
	_, err = Tests{Root: root, Package: "p", Bin: filepath.Join(t.TempDir(), "tests"), Overlay: overlay}.Build()
	require.ErrorContains(t, err, "syntax error")
}

// TestJSONIsReplaced: the file is the last value, in a directory that was made for it.
func TestJSONIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "state.json")
	_, err := ReadJSON[int](path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, n := range []int{1, 2} {
		require.NoError(t, WriteJSON(path, n))
		got, err := ReadJSON[int](path)
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
	_, err = ReadJSON[string](path)
	require.ErrorContains(t, err, path)
}
