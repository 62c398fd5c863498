package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const missedPage = "../../docs/performance.md"

// TestHeadingsAreCurrent: what the headings of docs/performance.md say was measured is in the kept raw
// files.
func TestHeadingsAreCurrent(t *testing.T) { require.NoError(t, CheckHeadings(kept, missedPage)) }

// TestHeadingsAreChecked: a digit typed by hand is found and mended; a page without a heading is an
// error.
func TestHeadingsAreChecked(t *testing.T) {
	page, err := os.ReadFile(missedPage)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "performance.md")
	wrong := strings.Replace(string(page), "of a channel's (", "of a channel's (9", 1)
	require.NotEqual(t, string(page), wrong)
	require.NoError(t, os.WriteFile(path, []byte(wrong), 0o644))
	require.ErrorContains(t, CheckHeadings(kept, path), "the figures of a heading")
	require.NoError(t, WriteHeadings(kept, path))
	mended, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(page), string(mended))

	require.NoError(t, os.WriteFile(path, []byte("# A\n"), 0o644))
	require.ErrorContains(t, WriteHeadings(kept, path), `has no heading "## Round trip to a loop`)
}

func TestFiguresOfAHeading(t *testing.T) {
	h := headings[0]
	one := goal{Name: "roundtrip/busy/p50 core-loop / channel", Measured: 1.5, Low: 1.25, High: 2, Limit: 1}
	for _, c := range []struct {
		of         []goal
		want, text string
	}{
		{[]goal{{Name: "other"}, one}, "1.50 of a channel's (1.25 to 2.00), wanted 1", ""},
		{[]goal{one, {Name: one.Name, Measured: 3, Limit: 1}, {Name: one.Name, Measured: 0.5, Limit: 1}}, "0.50 to 3.00 of a channel's, wanted 1", ""},
		{[]goal{{Name: one.Name, Measured: 1, Limit: 0.95, Least: true}}, "1.00 of a channel's (0.00 to 0.00), wanted surely above 0.95", ""},
		{nil, "", "no target matches"},
		{[]goal{one, {Name: one.Name, Limit: 2}}, "", "different limits"},
	} {
		got, err := h.figures(c.of)
		if c.text != "" {
			require.ErrorContains(t, err, c.text)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}
