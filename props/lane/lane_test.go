package lane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// module is the root of the module, seen from here.
const module = "../.."

// program returns a Run of a shell script in place of the lane.
func program(t *testing.T, script string) Run {
	bin := filepath.Join(t.TempDir(), "lane")
	require.NoError(t, os.WriteFile(bin, []byte("#!/bin/sh\n"+script), 0o755))
	return Run{Bin: bin, Budget: time.Hour, Seed: 7}
}

const oneLine = `echo '@@{"runs":1,"seed":3,"failed":{"G3":"text"}}'` + "\n"

func TestLinesAndOutput(t *testing.T) {
	r := program(t, "echo PASS\n"+oneLine+"echo noise\n"+`echo '@@{"runs":7}'`)
	var heard []int
	r.Hear = func(l Result) { heard = append(heard, l.Runs) }
	last, err := r.Do(module)
	require.NoError(t, err)
	require.Equal(t, []int{1, 7}, heard)
	require.Equal(t, Result{Runs: 7, Output: "PASS\nnoise\n"}, last)
}

func TestLineThatIsNoJSON(t *testing.T) {
	_, err := program(t, "echo '@@{nonsense'").Do(module)
	require.ErrorContains(t, err, "a line of the lane")
}

func TestWhatTheProgramIsTold(t *testing.T) {
	r := program(t, `echo $* $EVENTIDE_LANE_BUDGET $EVENTIDE_LANE_ONLY $EVENTIDE_LANE_SEED $EVENTIDE_CASES $(basename $PWD) $MORE`+"\n"+oneLine)
	r.Only, r.Cases, r.Args, r.Env = "G3", "/kept", []string{"-lean", "G3"}, []string{"MORE=more"}
	last, err := r.Do(module)
	require.NoError(t, err)
	require.Equal(t, "-test.run ^TestLane$ -test.timeout 0 -lean G3 1h0m0s G3 7 /kept props more\n", last.Output)
	here, err := filepath.Abs("kept")
	require.NoError(t, err)
	r.Cases = "kept"
	last, err = r.Do(module)
	require.NoError(t, err)
	require.Contains(t, last.Output, " "+here+" ", "a relative path is the caller's")
}

// TestEndings: however it ends, what it said until then counts.
func TestEndings(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   Ending
	}{
		"passed":     {oneLine, Ended},
		"violations": {oneLine + "exit 1", Ended},
		"panic":      {oneLine + "echo panic: out of luck; exit 2", Crashed},
		"fatal":      {oneLine + "kill -ABRT $$", Crashed},
		"hang":       {oneLine + "exec sleep 1000", Hung},
	} {
		t.Run(name, func(t *testing.T) {
			r := program(t, c.script)
			if c.want == Hung {
				r.Stall = time.Second
			}
			last, err := r.Do(module)
			require.NoError(t, err)
			require.Equal(t, c.want, last.Ending)
			require.Equal(t, map[string]string{"G3": "text"}, last.Failed)
		})
	}
}

// TestLinesPutOffTheEnd: who goes on talking does not hang.
func TestLinesPutOffTheEnd(t *testing.T) {
	r := program(t, "for i in 1 2 3 4 5 6; do\n"+oneLine+"sleep 0.5\ndone")
	r.Stall = 2 * time.Second
	last, err := r.Do(module)
	require.NoError(t, err)
	require.Equal(t, Ended, last.Ending)
}

// TestUntil: a program that has said enough is ended, in the middle of a line too.
func TestUntil(t *testing.T) {
	r := program(t, oneLine+"printf '@@{\"run'; exec sleep 1000")
	r.Until = func(l Result) bool { return l.Failed["G3"] != "" }
	last, err := r.Do(module)
	require.NoError(t, err)
	require.Equal(t, Ended, last.Ending)
	require.Equal(t, 1, last.Runs)
}

// TestSilence: a program that says nothing has shown nothing, whatever its end.
func TestSilence(t *testing.T) {
	for script, want := range map[string]Ending{
		"echo nothing to say":                  Ended,
		"echo nothing to say; exit 2":          Crashed,
		"echo nothing to say; exec sleep 1000": Hung,
		`echo '@@{"runs":0}'; exit 2`:          Crashed,
	} {
		r := program(t, script)
		if want == Hung {
			r.Stall = time.Second
		}
		_, err := r.Do(module)
		var silent ErrSilent
		require.ErrorAs(t, err, &silent, script)
		require.Equal(t, want, silent.Ending, script)
		require.ErrorContains(t, err, "the lane printed no result:\n"+silent.Output)
	}
}

// TestExhaustiveOnly: schedules of the exhaustive search are no runs, but they show
// something: a lane that is ended among them is not silent.
func TestExhaustiveOnly(t *testing.T) {
	r := program(t, `echo '@@{"runs":0,"exhausted":{"schedules":7}}'; exec sleep 1000`)
	r.Until = func(l Result) bool { return l.Exhausted.Schedules >= 7 }
	last, err := r.Do(module)
	require.NoError(t, err)
	require.Equal(t, Ended, last.Ending)
	require.Equal(t, 7, last.Exhausted.Schedules)
}

func TestNoSuchProgram(t *testing.T) {
	_, err := Run{Bin: filepath.Join(t.TempDir(), "none")}.Do(module)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestBuildSaysWhatTheGoCommandSaid(t *testing.T) {
	_, err := Build(t.TempDir(), t.TempDir(), "none", "")
	require.ErrorContains(t, err, "none.test")
	require.ErrorContains(t, err, "go.mod file not found")
}

// TestStacks: the setting of the lanes is added to those of the caller.
func TestStacks(t *testing.T) {
	require.Equal(t, "GODEBUG=adaptivestackstart=1", stacks(""))
	require.Equal(t, "GODEBUG=madvdontneed=1,adaptivestackstart=1", stacks("madvdontneed=1"))
}

// TestRate: runs per second are of processor time, and not shown if that is not known.
func TestRate(t *testing.T) {
	require.InDelta(t, 500, Result{Runs: 1000, Processor: 2}.Rate(), 1e-9)
	require.Zero(t, Result{Runs: 1000}.Rate())
}

// TestAlone: the median of the rounds and their range, in a line for each lane.
func TestAlone(t *testing.T) {
	l := AloneLane{Lane: "interleave"}
	for _, x := range []Result{{Runs: 300, Processor: 1, StepRate: 4e6}, {Runs: 100, Processor: 1, StepRate: 5.25e6}, {Runs: 210, Processor: 1, StepRate: 1e6}, {Runs: 200, Processor: 1, StepRate: 4.5e6}} {
		l.Add(x)
	}
	var b strings.Builder
	Alone{Lanes: []AloneLane{l, {Lane: "virtual", Runs: []float64{7}}}}.Print(&b)
	require.Equal(t, "interleave  200 (100 to 300) runs per second of processor time, 4.00 (1.00 to 5.25) million steps\n"+
		"virtual     7 (7 to 7) runs per second of processor time\n", b.String())
}
