package timeline

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// example has a row of each kind.
func example() *Timeline {
	return &Timeline{
		Title: "G3: task 2 was accepted and never ran <it>", Replay: "go test -run 'Replay'",
		Actors: []string{"actor 1", "loop"}, States: []string{"not started", "started", "shutdown"},
		Rows: []Row{
			{At: "0s", Actor: 0, Text: "execute(1)"},
			{At: "0s", Actor: 1, Text: "load of asleep", Kind: Minor, State: 1, Detail: "loop.go:7"},
			{At: "0s", Actor: 1, Text: "load of closed", Kind: Minor, State: 1},
			{At: "1ms", Actor: -1, Text: "the clock moves to 1ms", State: 1},
			{At: "1ms", Actor: 0, Text: "takes the turn", Kind: Switch, State: 1},
			{At: "1ms", Actor: 0, Text: "execute(2) -> accepted", Detail: "e.mu.Lock()", Kind: Cited, State: 1},
			{At: "1ms", Actor: 1, Text: "done", Kind: Breach, State: 2, After: 6},
		},
	}
}

// TestCheckNamesWhatCannotBe: a timeline that would lie is refused, and the error names the row.
func TestCheckNamesWhatCannotBe(t *testing.T) {
	require.NoError(t, example().Check())
	for want, change := range map[string]func(*Timeline){
		"row 1 is in column 2, want -1 to 1":                          func(l *Timeline) { l.Rows[0].Actor = 2 },
		"row 1 is in column -2, want -1 to 1":                         func(l *Timeline) { l.Rows[0].Actor = -2 },
		"row 7 has state 3, want 0 to 2":                              func(l *Timeline) { l.Rows[6].State = 3 },
		"the state goes back from started to not started in row 4":    func(l *Timeline) { l.Rows[3].State = 0 },
		"row 7 saw the effect of row 7, want an earlier row":          func(l *Timeline) { l.Rows[6].After = 7 },
		"row 7 is a second breach, want at most one":                  func(l *Timeline) { l.Rows[5].Kind = Breach },
		`row 1 is of kind "red", want one of ["" "minor" "switch" "c`: func(l *Timeline) { l.Rows[0].Kind = "red" },
	} {
		l := example()
		change(l)
		require.ErrorContains(t, l.Check(), want)
		_, err := l.HTML()
		require.ErrorContains(t, err, want, "a picture of it would lie")
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	require.NoError(t, example().Save(path))
	got, err := Load(path)
	require.NoError(t, err)
	require.Equal(t, example(), got)

	bad := example()
	bad.Rows[0].Actor = 9
	require.NoError(t, bad.Save(path))
	_, err = Load(path)
	require.ErrorContains(t, err, path+": timeline: row 1")
}

// TestHTML: texts are escaped, operations that change nothing are one row, a state is one
// cell as high as it lasts, and the breach can be found without colours.
func TestHTML(t *testing.T) {
	drawn, err := example().HTML()
	require.NoError(t, err)
	page := string(drawn)
	require.Contains(t, page, "never ran &lt;it&gt;")
	require.Contains(t, page, "go test -run &#39;Replay&#39;")
	require.Contains(t, page, "2 operations that change nothing</summary><pre>load of asleep  loop.go:7\nload of closed\n</pre>")
	require.Equal(t, 6, strings.Count(page, `<tr class="row`), "seven rows, two of them folded")
	require.Contains(t, page, `<td class="state s1" rowspan="4"><span>started</span></td>`)
	require.Equal(t, 1, strings.Count(page, "data-breach"))
	require.Contains(t, page, `done <span class="after">saw row 6</span> <span class="words">here the rule is broken</span>`)
	require.Contains(t, page, `colspan="2">the clock moves to 1ms`)
}

// TestLegend: it explains what the timeline has, and nothing else.
func TestLegend(t *testing.T) {
	parts := []string{`<li class="breach">`, `<li class="cited">`, `<li class="switch">`, "opens the source", "saw row n"}
	all, err := example().HTML()
	require.NoError(t, err)
	for _, part := range parts {
		require.Contains(t, string(all), part)
	}
	plain, err := (&Timeline{Actors: []string{"loop"}, Rows: []Row{{Text: "done"}}}).HTML()
	require.NoError(t, err)
	for _, part := range parts {
		require.NotContains(t, string(plain), part)
	}
}

// TestEveryRowHasEveryColumn: with the cells of the bands, each row is as wide as the head.
func TestEveryRowHasEveryColumn(t *testing.T) {
	drawn, err := example().HTML()
	require.NoError(t, err)
	head, body, ok := strings.Cut(string(drawn), "<tbody>")
	require.True(t, ok)
	wide := strings.Count(head, "<th") - strings.Count(head, "<thead") // # time state actor loop
	require.Equal(t, 5, wide)
	left := 0 // rows that the band of the state still covers
	for row := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(strings.Split(body, "</tbody>")[0]), "</tr>"), "</tr>") {
		cells := strings.Count(row, "<td") + strings.Count(row, `colspan="2"`)
		if at := strings.Index(row, `rowspan="`); at >= 0 {
			require.Zero(t, left)
			left = int(row[at+len(`rowspan="`)] - '0')
		} else {
			cells++
		}
		require.Equal(t, wide, cells, row)
		left--
	}
	require.Zero(t, left)
}
