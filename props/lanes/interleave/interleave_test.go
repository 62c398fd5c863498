package interleave_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"eventide/internal/timeline"
	lanes "eventide/props/lane"
	"eventide/props/lanes/interleave"
	"eventide/props/lanes/interleave/build"
	"eventide/props/mutant"

	"github.com/stretchr/testify/require"
)

var root = filepath.Join("..", "..", "..")

var budget = flag.Duration("interleave.budget", 0, "how long TestPropInterleave looks; 0: it visits each scenario twice, or once with -short")

// hangGuard ends a run that neither finds its planted bug nor comes to its end. A run
// that does takes seconds of a processor, however long a busy machine is about it.
const hangGuard = "9m"

// laneOf builds the lane once for all tests.
var laneOf = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "interleave")
	if err != nil {
		return "", err
	}
	bin, err := build.Lane{Root: root, Dir: dir}.Build()
	return bin, err
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if bin, err := laneOf(); err == nil {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

func lane(t *testing.T) string {
	t.Helper()
	bin, err := laneOf()
	require.NoError(t, err)
	return bin
}

// planted builds the lane with bugs of testdata/interleave/mutants and testdata/mutants,
// each in a file of its own.
func planted(t *testing.T, names ...string) string {
	t.Helper()
	changed := map[string]string{}
	for _, dir := range []string{filepath.Join("interleave", "mutants"), "mutants"} {
		all, err := mutant.Load(filepath.Join(root, "testdata", dir))
		require.NoError(t, err)
		for _, m := range all {
			if !slices.Contains(names, m.Name) {
				continue
			}
			files, err := m.Apply(root)
			require.NoError(t, err)
			for file, text := range files {
				require.NotContains(t, changed, file)
				changed[file] = text
			}
			names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == m.Name })
		}
	}
	require.Empty(t, names, "there are no such mutants")
	bin, err := build.Lane{Root: root, Dir: t.TempDir(), Changed: changed}.Build()
	require.NoError(t, err)
	return bin
}

// run runs the lane and returns what it printed and its exit code.
func run(t *testing.T, bin string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Dir = root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return out.String(), ended.ExitCode()
	}
	require.NoError(t, err)
	return out.String(), 0
}

// summary is the last line of JSON that a run printed.
type summary struct {
	Seed      uint64         `json:"seed"`
	Seconds   float64        `json:"seconds"`
	Runs      int            `json:"runs"`
	Scenarios int            `json:"scenarios"`
	Classes   int            `json:"classes"`
	Histories int            `json:"histories"`
	StepRate  float64        `json:"steps_per_processor_second"`
	Exercised map[string]int `json:"exercised"`

	Speed []lanes.Speed `json:"speed"`
	lanes.Coverage
}

func lastLine(t *testing.T, out string) (s summary) {
	t.Helper()
	at := strings.LastIndex(out, "\n@@")
	require.GreaterOrEqual(t, at, 0, "the lane printed no result:\n%s", out)
	text, _, _ := strings.Cut(out[at+3:], "\n")
	require.NoError(t, json.Unmarshal([]byte(text), &s))
	return s
}

// TestPropInterleave explores programs on core under controlled schedules: whatever
// schedule is taken, no guarantee is broken. It counts visits and not seconds, so that a
// busy machine explores as much as an idle one.
func TestPropInterleave(t *testing.T) {
	look := []string{"-rounds", "2", "-first", "0"}
	switch {
	case *budget > 0:
		look = []string{"-budget", budget.String()}
	case testing.Short():
		look = []string{"-rounds", "1", "-first", "0"}
	}
	page := filepath.Join(t.TempDir(), "report.html")
	out, code := run(t, lane(t), append(look, "-cases", t.TempDir(), "-html", page)...)
	require.Zero(t, code, "%s", out)
	isTimeline(t, page, "nothing broke")
	s := lastLine(t, out)
	require.NotZero(t, s.Runs)
	require.NotZero(t, s.Exercised["G3"], "no schedule had both an accepted and a refused task")
	for _, id := range []string{"G22", "G23"} {
		require.NotZero(t, s.Exercised[id], "no schedule had a channel that ended, or was asked to")
	}
	require.NotZero(t, s.NewClassRate)
	require.Greater(t, s.Actions.Hit, s.Actions.Of/2, "not yet: %v", s.Actions.Missing)
	require.Empty(t, s.Actions.Unexpected, "the list says that it cannot be")
	require.NotZero(t, s.Conflicts.Hit)
	require.Less(t, s.Conflicts.Hit, s.Conflicts.Of)
	require.Len(t, s.PCT, 4)
	for i, c := range s.PCT {
		require.Equal(t, i+2, c.Depth)
		require.True(t, 0 < c.Most && c.Most < 1 && c.Least <= c.Median && c.Median <= c.Most, "%+v", c)
	}
	t.Logf("seed %d: %d schedules of %d scenarios, %d happens-before classes, %d histories judged, %.2f million steps per second of processor time",
		s.Seed, s.Runs, s.Scenarios, s.Classes, s.Histories, s.StepRate/1e6)
}

// isTimeline checks that a page has columns, arrows and the states, is well formed, and
// needs nothing from elsewhere.
func isTimeline(t *testing.T, path, want string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, part := range []string{want, "(driver)", "saw row ", "<span>Started</span>", "core/"} {
		require.Contains(t, string(data), part)
	}
	require.NotRegexp(t, `(?i)(src|href)=|@import`, string(data), "it loads something")
}

// TestPropInterleaveExhaustive goes through all schedules of pairs of calls within a
// bound of preemptions.
func TestPropInterleaveExhaustive(t *testing.T) {
	bound := "1"
	if testing.Short() {
		bound = "0"
	}
	out, code := run(t, lane(t), "-exhaust", bound, "-budget", hangGuard, "-cases", t.TempDir())
	require.Zero(t, code, "%s", out)
	require.NotContains(t, out, "NOT to the end")
	require.Contains(t, out, "\nexecute|shutdown ")
	t.Log("\n" + out)
}

// showsWhatRan checks that the line of source beside an operation is the one that makes
// it: that of the planted bug, where its file is another than the one in the module.
func showsWhatRan(t *testing.T, out string) {
	t.Helper()
	makes := map[string]string{"load": "Load(", "store": "Store(", "cas": "CompareAndSwap(", "trylock": "TryLock(", "lock": "Lock("} // not of an unlock, which may be deferred
	steps := regexp.MustCompile(`(?m) (load|store|cas|trylock|lock)  core/\S+ (.+)$`).FindAllStringSubmatch(out, -1)
	require.Greater(t, len(steps), 10, "%s", out)
	for _, step := range steps {
		context := strings.Contains(step[2], "ctx.") || strings.Contains(step[2], "cancel(") // locks and loads
		if !strings.HasSuffix(step[2], "…") && !context {
			require.Contains(t, step[2], makes[step[1]], "%s", step[0])
		}
	}
}

// TestPropInterleavePlanted: a lost wake-up in core is found, made small, kept as a
// case, and replayed, with each of the three outcomes of a replay.
func TestPropInterleavePlanted(t *testing.T) {
	bad := planted(t, "g12-announced-after-the-look")
	cases := filepath.Join(t.TempDir(), "cases that are kept")
	require.NoError(t, os.Mkdir(cases, 0o755))
	page := filepath.Join(cases, "report.html")
	out, code := run(t, bad, "-budget", hangGuard, "-cases", cases, "-html", page)
	require.Equal(t, 1, code, "%s", out)
	isTimeline(t, page, "<h3>G")
	isTimeline(t, page, "data-breach")
	require.Regexp(t, `(?m)^(G12|G10|G24|G3) `, out)
	require.Contains(t, out, "core/loop.go:", "the trace names lines of core")
	showsWhatRan(t, out)

	found := regexp.MustCompile(`(?m)-case (.+)$`).FindStringSubmatch(out)
	require.NotNil(t, found, "%s", out)
	word, err := exec.Command("sh", "-c", "printf %s "+found[1]).Output() // the line is for a shell
	require.NoError(t, err)
	path := string(word)
	require.True(t, filepath.IsAbs(path), "%s: the line is to work in any directory of the module", path)
	l, err := timeline.Load(strings.TrimSuffix(path, ".schedule") + timeline.Extension)
	require.NoError(t, err, "the page of make verify shows the failure")
	require.Contains(t, l.Replay, path)
	require.Contains(t, l.Actors, "loop", "actors have the names of the program")
	require.True(t, slices.ContainsFunc(l.Actors, regexp.MustCompile(`^g[0-9]+$`).MatchString), "%q: an actor of the program that is left", l.Actors)
	breaches := slices.DeleteFunc(slices.Clone(l.Rows), func(r timeline.Row) bool { return r.Kind != timeline.Breach })
	require.Len(t, breaches, 1)
	require.Empty(t, breaches[0].Detail, "it is an event of the history and no operation: %+v", breaches[0])
	for _, r := range l.Rows {
		require.False(t, strings.Contains(r.Text, ".go:") && r.Detail == "", "no source: %+v", r)
	}
	out, code = run(t, bad, "-case", path)
	require.Zero(t, code, "%s", out)
	require.Contains(t, out, "reproduced")

	out, code = run(t, lane(t), "-case", path)
	require.Contains(t, []int{4, 5}, code, "core as it is: %s", out)

	data, err := os.ReadFile(path)
	require.NoError(t, err)
	none := filepath.Join(cases, "none.schedule") // it applies to any core
	require.NoError(t, os.WriteFile(none, regexp.MustCompile(`(?s)"switches": \[.*?\]`).ReplaceAll(data, []byte(`"switches": []`)), 0o644))
	out, code = run(t, lane(t), "-case", none)
	require.Equal(t, 4, code, "%s", out)
	gone := filepath.Join(cases, "gone.schedule")
	changed := strings.Replace(string(data), `"switches": [`, `"switches": [{"at": "1.100000:2"},`, 1)
	changed = strings.Replace(strings.Replace(changed, "},\n ]", "}\n ]", 1), "},]", "}]", 1)
	require.NoError(t, os.WriteFile(gone, []byte(changed), 0o644))
	out, code = run(t, lane(t), "-case", gone)
	require.Equal(t, 5, code, "%s", out)
	require.Contains(t, out, "no longer applies")
}

// TestPropInterleaveMinimised: lost wake-ups are found by the small scenarios that were
// made for their shapes, and are no larger, once made small, than a person can hold in
// mind: the loop, where it moves to, a caller or a callback. The times are small, too.
func TestPropInterleaveMinimised(t *testing.T) {
	const goroutines, switches = 3, 6 // the driver counted, if it makes a call
	names := regexp.MustCompile(`(?m)^program  (.*), time idle`)
	found := regexp.MustCompile(`(?m)^found by pct3 in schedule (\d+) of .*; \d+ switches before minimising, (\d+) after`)
	for i, c := range []struct{ mutant, scenario, gone string }{
		{"g12-purge-forgotten", "sleeping until a timer, a hook exits in the shutdown", "in 20ms"},
		{"g12-alarm-not-moved", "sleeping until a timer, a later one and an earlier", "in 10ms"},
		{"g12-lazy-at-the-limit-does-not-wake", "sleeping on lazy tasks, which fill the queue", "after 20ms"},
		{"g12-register-in-shutdown-does-not-wake", "sleeping in a shutdown, a registration", "drains after"},
		{"g12-last-channel-does-not-wake", "loop channel|channel", "drains after 1ms"}, // a caller has to do what the driver does at first
	} {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(c.mutant, func(t *testing.T) {
			out, code := run(t, planted(t, c.mutant), "-scenario", c.scenario, "-strategy", "pct3", "-budget", hangGuard, "-cases", t.TempDir())
			require.Equal(t, 1, code, "%s", out)
			require.Equal(t, c.scenario, names.FindStringSubmatch(out)[1])
			program, _, _ := strings.Cut(out, "\nschedule ")
			require.NotContains(t, program, c.gone, "a time is as it was")
			end := found.FindStringSubmatch(out)
			require.NotNil(t, end, "%s", out)
			schedule, err := strconv.Atoi(end[1])
			require.NoError(t, err)
			require.LessOrEqual(t, schedule, 36, "one visit")
			left, err := strconv.Atoi(end[2])
			require.NoError(t, err)
			require.LessOrEqual(t, left, switches, "%s", out)
			var census interleave.Census
			for line := range strings.Lines(out) {
				if got, err := interleave.ParseCensus(strings.TrimSpace(line)); err == nil {
					census = got
				}
			}
			require.NotZero(t, census.Goroutines, "%s", out)
			require.LessOrEqual(t, census.Sum(), goroutines, "%s", out)
		})
	}
}

// TestPropInterleaveG21G22G23Planted: bugs of groups and of channels are found, each by
// a small scenario that was made for its guarantee, and by no other of these.
func TestPropInterleaveG21G22G23Planted(t *testing.T) {
	bad := planted(t, "g21-next-in-two-steps", "g22-begin-in-two-steps", "g23-channels-not-waited-for")
	for _, c := range []struct{ guarantee, scenario string }{
		{"G21", "group shutdown"},
		{"G22", "loop input|end-end"},
		{"G23", "loop channel|graceful(1ms,2ms)|never drains"},
	} {
		t.Run(c.guarantee, func(t *testing.T) {
			out, code := run(t, bad, "-scenario", c.scenario, "-only", c.guarantee, "-budget", hangGuard, "-cases", t.TempDir())
			require.Equal(t, 1, code, "%s", out)
			require.Regexp(t, `(?m)^(also     )?`+c.guarantee+` `, out)
			out, code = run(t, lane(t), "-scenario", c.scenario, "-rounds", "3", "-cases", t.TempDir())
			require.Zero(t, code, "%s", out)
		})
	}
}

// TestInterleaveRecord: the record of what was exhausted says so of every small
// scenario, of pairs of calls to preemption bound 2 at least.
func TestInterleaveRecord(t *testing.T) {
	path := filepath.Join(root, "testdata", "interleave", "exhausted.json")
	var out, errs bytes.Buffer
	code := interleave.RecordMain([]string{"-bound", "2", "-shutdown", "3", path}, &out, &errs)
	require.Zero(t, code, "%s%s", &out, &errs)
	t.Log(out.String())

	record, err := interleave.LoadRecord(path)
	require.NoError(t, err)
	require.NotEmpty(t, record.Scenarios)
	record.Scenarios = record.Scenarios[1:]
	data, err := json.Marshal(record)
	require.NoError(t, err)
	less := filepath.Join(t.TempDir(), "less.json")
	require.NoError(t, os.WriteFile(less, data, 0o644))
	require.Equal(t, 1, interleave.RecordMain([]string{"-bound", "2", "-shutdown", "3", less}, &out, &errs), "a scenario is missing")
	record.Core = "another"
	data, err = json.Marshal(record)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(less, data, 0o644))
	require.Equal(t, 2, interleave.RecordMain([]string{path, less}, &out, &errs), "records of two cores")
}
