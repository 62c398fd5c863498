package props

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"eventide/internal/timeline"
	"eventide/props/mutant"

	"github.com/stretchr/testify/require"
)

// withPlanted makes the go command build with a planted bug, by GOFLAGS.
func withPlanted(t *testing.T, name string) (env []string) {
	t.Helper()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	all, err := mutant.Load(filepath.Join(root, "testdata", "mutants"))
	require.NoError(t, err)
	replace, dir := map[string]string{}, t.TempDir()
	for _, m := range all {
		if m.Name != name {
			continue
		}
		files, err := m.Apply(root)
		require.NoError(t, err)
		for file, text := range files {
			changed := filepath.Join(dir, filepath.Base(file))
			require.NoError(t, os.WriteFile(changed, []byte(text), 0o644))
			replace[filepath.Join(root, file)] = changed
		}
	}
	require.NotEmpty(t, replace, "there is no %s", name)
	data, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	overlay := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, data, 0o644))
	return append(os.Environ(), "GOFLAGS=-overlay="+overlay, "EVENTIDE_CASES=")
}

// failing runs a line of shell at the root of the module, wants it to fail, and returns
// what it printed.
func failing(t *testing.T, env []string, line string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = "..", env
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%s: got a pass, want a failure:\n%s", line, out)
	return string(out)
}

// TestOneBugIsToldOnce plants one bug and runs several properties: each cause is told at
// length once, each other failure names its case, and what is printed is bounded. The
// lines to paste reproduce the failure, though the process that kept their cases is gone.
func TestOneBugIsToldOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the properties with a planted bug")
	}
	env := withPlanted(t, "g3-no-final-drain")
	out := failing(t, env, "go test -count=1 -run '^(TestPropAll|TestPropG(3|4|5|18|19|20|21).*|FuzzPropAll)$' ./props -rapid.nofailfile")

	replays := regexp.MustCompile(`(?m)^\s*replay  (.* -case (\S+))$`).FindAllStringSubmatch(out, -1)
	require.NotEmpty(t, replays, "%s", out)
	told := map[string]bool{}
	for _, r := range replays {
		require.NotContains(t, told, r[2], "a case is printed at length twice:\n%s", out)
		told[r[2]] = true
		path := filepath.Join("..", "props", r[2])
		require.FileExists(t, path)
		picture := strings.TrimSuffix(path, ".case") + timeline.Extension
		t.Cleanup(func() {
			os.Remove(path)
			os.Remove(picture)
			os.Remove(strings.TrimSuffix(path, ".case") + ".txt")
		})
		kept, err := LoadCase(path)
		require.NoError(t, err)
		if kept.untraced() != nil {
			continue // it records no history
		}
		l, err := timeline.Load(picture)
		require.NoError(t, err, "the page of make verify shows it")
		require.Equal(t, r[1], l.Replay)
	}
	again := regexp.MustCompile(`the same cause as that of (\S+)`).FindAllStringSubmatch(out, -1)
	require.NotEmpty(t, again, "no failure names the case of another:\n%s", out)
	for _, a := range again {
		require.Contains(t, told, a[1])
	}
	failures := strings.Count(out, "--- FAIL: ")
	const header = 1 << 10 // rapid's lines and the summary of a failure
	require.Less(t, len(out), len(replays)*(maxFailure+header)+2*failures*header)

	require.Contains(t, failing(t, env, replays[0][1]), "reproduced: ")
}
