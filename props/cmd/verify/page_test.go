package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"eventide/internal/timeline"

	"github.com/stretchr/testify/require"
)

// pageOf writes the page of a verification, with the recorded traces, and returns its path
// and text. cases holds the timelines of failures.
func pageOf(t *testing.T, v *verification, cases string) (path, text string) {
	t.Helper()
	v.traces = traceResult{}
	require.NoError(t, v.judgeTraces())
	path = filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, v.report().writePage(path, v.root, cases))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return path, string(data)
}

// broken is the timeline of a recorded bug as if this run had found it.
func broken(t *testing.T) *timeline.Timeline {
	v := passing()
	v.traces = traceResult{}
	require.NoError(t, v.judgeTraces())
	for _, l := range v.traces.recorded {
		if strings.Contains(l.Text, "#9603") {
			l.Replay = "go test ./props -run '^TestReplay$'"
			return l
		}
	}
	require.Fail(t, "no recorded trace remembers #9603")
	return nil
}

// TestPageSaysTheVerdictFirst: of a run that passed, of one with a violation, and of one in
// which something was not checked enough, which is no pass.
func TestPageSaysTheVerdictFirst(t *testing.T) {
	for want, change := range map[string]func(*verification){
		`<h1 class="pass">All `:                                                     func(*verification) {},
		`<h1 class="fail">1 of `:                                                    func(v *verification) { v.lane.Failed["G3"] = "G3 <task> 2" },
		`<h1 class="not-run">No violation was found, but 1`:                         func(v *verification) { v.lane.Exercised["G3"]-- },
		`<h1 class="fail">The model or a kept trace`:                                func(v *verification) { v.regs.Complete = false },
		`<h1 class="fail">The exits lane found a violation`:                         func(v *verification) { v.shadows["exits"].Failed["exits"] = "the exit code is <task>" },
		`<h1 class="not-run">No violation was found, but 1 of 3 lanes over a model`: func(v *verification) { delete(v.shadows, "blocking") },
	} {
		v := passing()
		change(v)
		_, text := pageOf(t, v, t.TempDir())
		require.Contains(t, text, want)
		require.NotContains(t, text, "<task>", "texts are escaped")
	}
}

// TestPageShowsTheFailuresOfThisRun: those of an earlier run are left out, and what cannot be
// read is named instead of left out in silence.
func TestPageShowsTheFailuresOfThisRun(t *testing.T) {
	v, cases := passing(), t.TempDir()
	v.began = time.Now()
	l := broken(t)
	require.NoError(t, l.Save(filepath.Join(cases, "G3-new"+timeline.Extension)))
	l.Title = "an old one"
	old := filepath.Join(cases, "G3-old"+timeline.Extension)
	require.NoError(t, l.Save(old))
	require.NoError(t, os.Chtimes(old, time.Time{}, v.began.Add(-time.Minute)))
	_, text := pageOf(t, v, cases)
	runs, _, _ := strings.Cut(text[strings.Index(text, `<section id="runs">`):], `<section id="recorded">`)
	require.Contains(t, runs, "data-breach")
	require.NotContains(t, runs, "an old one")

	bad := filepath.Join(cases, "bad"+timeline.Extension)
	require.NoError(t, os.WriteFile(bad, []byte("{"), 0o644))
	path := filepath.Join(t.TempDir(), "report.html")
	require.ErrorContains(t, v.report().writePage(path, v.root, cases), bad)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(data), "Not shown: "+bad)
	require.True(t, bytes.HasSuffix(bytes.TrimSpace(data), []byte("</html>")), "the rest is shown")
}

var (
	hrefs = regexp.MustCompile(`href="#([^"]+)"`)
	loads = regexp.MustCompile(`(?:src|href)="([^"#][^"]*)"`)
)

// TestPageStandsAlone: each link within the page has its target, and nothing is loaded from
// elsewhere.
func TestPageStandsAlone(t *testing.T) {
	_, text := pageOf(t, passing(), t.TempDir())
	links := hrefs.FindAllStringSubmatch(text, -1)
	require.Greater(t, len(links), 2*len(checked()))
	for _, m := range links {
		require.Equal(t, 1, strings.Count(text, `id="`+m[1]+`"`), m[0])
	}
	for _, m := range loads.FindAllStringSubmatch(text, -1) {
		require.True(t, strings.HasPrefix(m[1], "data:"), m[0])
	}
	require.NotContains(t, text, "@import")
	require.NotContains(t, text, "url(")
}

// TestPageShowsWhatWasNotCovered: names, not only counts.
func TestPageShowsWhatWasNotCovered(t *testing.T) {
	v := passing()
	v.interleave.Actions.Missing, v.interleave.Actions.Hit, v.interleave.Actions.Of = []string{"graceful in Terminated"}, 9, 10
	_, text := pageOf(t, v, t.TempDir())
	require.Contains(t, text, "never seen: 1</summary>")
	require.Contains(t, text, "graceful in Terminated")
}
