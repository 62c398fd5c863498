package props

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// TestShellWord: a shell makes of the word the text that went in, and a plain path stays
// as it is.
func TestShellWord(t *testing.T) {
	require.Equal(t, "../out/cases/G3-1a.case", ShellWord("../out/cases/G3-1a.case"))
	for _, text := range []string{"a b/c.case", "it's", "$HOME", "`id`", "a\nb", "~", "ü", ""} {
		out, err := exec.Command("sh", "-c", "printf %s "+ShellWord(text)).CombinedOutput()
		require.NoError(t, err, text)
		require.Equal(t, text, string(out))
	}
}

// TestVersion1 reads the case files of version 1 that are kept: each is the same case as
// its successor of this version.
func TestVersion1(t *testing.T) {
	const dir = "../testdata/cases"
	old, err := filepath.Glob(filepath.Join(dir, "v1", "*.case"))
	require.NoError(t, err)
	require.NotEmpty(t, old)
	for _, path := range old {
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(kept), "\"version\": 1,", path+": a case of this version belongs in "+dir)
		was, err := LoadCase(path)
		require.NoError(t, err)
		is, err := LoadCase(filepath.Join(dir, filepath.Base(path)))
		require.NoError(t, err)
		require.Equal(t, is, was, path)
		data, err := os.ReadFile(filepath.Join(dir, filepath.Base(path)))
		require.NoError(t, err)
		require.Contains(t, string(data), `"op": "`, "words, not numbers")
	}
}

// TestEveryFieldOfVersion1 reads a number in each place that had one.
func TestEveryFieldOfVersion1(t *testing.T) {
	c := loadText(t, `{"version":1,"guarantee":"G3","text":"t","program":{"timers":2,"loop":true,"drain":1,"actors":[{"steps":[
		{"op":0,"env":"input","fd":1},
		{"op":20,"id":1,"drain":5,"askedEnd":16,"body":{"end":15,"steps":[{"op":12}],"listener":{"steps":[{"op":4,"id":2,"body":{}}]}}}]}]}}`)
	require.Equal(t, Program{
		Timers: history.RunTimersUntilTimeout, Loop: true, Drain: history.CloseChannels,
		Actors: []Actor{{Steps: []Step{
			{Env: EnvInput, FD: 1},
			{Op: history.OpRegisterChannel, ID: 1, Drain: 5, AskedEnd: history.Exited, Body: &Script{
				End: history.Panicked, Steps: []Step{{Op: history.OpShutdown}},
				Listener: &Script{Steps: []Step{{Op: history.OpAfterIteration, ID: 2, Body: &Script{}}}},
			}},
		}}},
	}, c.Program)
	_, err := LoadCase(written(t, `{"version":1,"program":{"actors":[{"steps":[{"op":17}]}]}}`))
	require.ErrorContains(t, err, "op is 17, which version 1 does not have")
	_, err = LoadCase(written(t, `{"version":2,"program":{"actors":[{"steps":[{"op":1}]}]}}`))
	require.ErrorContains(t, err, "cannot unmarshal number")
	_, err = LoadCase(written(t, `{"version":3}`))
	require.ErrorContains(t, err, "version is 3, want 2")
}

func loadText(t *testing.T, text string) Case {
	c, err := LoadCase(written(t, text))
	require.NoError(t, err)
	return c
}

func written(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "one.case")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}
