package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const readme = "../../README.md"

// TestReadmeIsCurrent: the README's ratios are those of the kept raw files.
func TestReadmeIsCurrent(t *testing.T) { require.NoError(t, CheckReadme(kept, readme)) }

// TestReadmeRatiosAreChecked: a digit typed by hand is found and mended, a README without
// the table and raw files without a figure are errors.
func TestReadmeRatiosAreChecked(t *testing.T) {
	table, err := Comparison(kept)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "README.md")
	wrong := "# A\n\n" + strings.Replace(table, "| 0.", "| 9.", 1) + "\nrest\n"
	require.NoError(t, os.WriteFile(path, []byte(wrong), 0o644))
	require.ErrorContains(t, CheckReadme(kept, path), "got the table")
	require.NoError(t, WriteReadme(kept, path))
	require.NoError(t, CheckReadme(kept, path))
	mended, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "# A\n\n"+table+"\nrest\n", string(mended))

	require.NoError(t, os.WriteFile(path, []byte("# A\n"), 0o644))
	require.ErrorContains(t, WriteReadme(kept, path), "has no table of comparisons")
	dir := copyRaw(t)
	verify := filepath.Join(dir, verifyFile)
	text, err := os.ReadFile(verify)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(verify, []byte(strings.Replace(string(text), `"id": "G7"`, `"id": "G77"`, 1)), 0o644))
	_, err = Generate(dir)
	require.ErrorContains(t, err, `a row for "G77", which is no guarantee`)
	require.NoError(t, os.Remove(filepath.Join(dir, peersFile)))
	require.ErrorContains(t, CheckReadme(dir, readme), "peers.json has no ratio of execute/producers=64, core")
}
