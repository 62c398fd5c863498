package interleave_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTimelineShowsTheStatesThatWere: the band of a timeline goes through the states of a
// graceful shutdown, each once and none back (G1). Moving the state stores more than the
// state.
func TestTimelineShowsTheStatesThatWere(t *testing.T) {
	page := filepath.Join(t.TempDir(), "report.html")
	out, code := run(t, lane(t), "-seed", "1", "-first", "-1", "-rounds", "1", "-n", "1", "-scenario", "execute|graceful(0,0)|warm", "-cases", t.TempDir(), "-html", page)
	require.Zero(t, code, "%s", out)
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	var states []string
	for _, s := range regexp.MustCompile(`rowspan="\d+"><span>(\w+)</span>`).FindAllSubmatch(data, -1) {
		states = append(states, string(s[1]))
	}
	want := []string{"NotStarted", "Started", "ShuttingDown", "Shutdown", "Terminated"}
	if i := slices.Index(states, "ShuttingDown"); i < 0 { // a timeout of 0 may close at once
		want = slices.Delete(want, 2, 3)
	}
	require.Equal(t, want, states)
}
