package props

import (
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// sampled are programs, one for each kind of executor, in which a body takes samples before and after the
// shutdown call, beside timers, hooks and tasks.
func sampled() map[string]Program {
	looks := func() *Script {
		return &Script{Steps: []Step{{Op: history.OpState}, {Op: history.OpSchedule, ID: 20, Delay: time.Hour, Body: &Script{}}}}
	}
	again := &Script{Steps: []Step{{Op: history.OpState}}}
	p := Program{Timers: core.RunDueTimers, Actors: []Actor{{Steps: []Step{
		{Op: history.OpExecute, ID: 1, Body: &Script{End: history.Panicked}},
		{Op: history.OpAddHook, ID: 2, Body: &Script{}},
		{Op: history.OpSchedule, ID: 3, Body: &Script{}},
		{Op: history.OpSubmit, ID: 4, Body: &Script{}},
		{Op: history.OpCancel, Target: 4},
		{Op: history.OpExecute, ID: 5, Wait: time.Millisecond, Body: looks()},
		{Op: history.OpShutdownGracefully, Wait: time.Millisecond, Quiet: 2 * time.Millisecond, Timeout: 3 * time.Millisecond},
		{Op: history.OpExecute, ID: 6, Wait: time.Millisecond, Body: again},
	}}}}
	loop, pool := p, p
	loop.Loop, pool.Pool = true, 1
	return map[string]Program{"executor": p, "event loop": loop, "pool": pool}
}

// record makes a recording of a correct run.
func record(t *testing.T, p Program) (out Recording) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { out = Run(p) })
	v, err := Judge(p, out)
	require.NoError(t, err)
	require.Empty(t, v.Violations)
	return out
}

// inBodies has the positions of the first and last event of each body of a recording.
func inBodies(out Recording) (spans [][2]int) {
	open := map[int64]int{}
	for _, e := range out.Events {
		switch e.Kind {
		case history.Begin:
			open[e.G] = e.N
		case history.End:
			spans = append(spans, [2]int{open[e.G], e.N})
		}
	}
	return spans
}

// within reports whether one of the spans has both positions.
func within(spans [][2]int, after, n int) bool {
	return slices.ContainsFunc(spans, func(b [2]int) bool { return b[0] <= after && n <= b[1] })
}

// TestG20EveryFieldOfASampleIsCompared: whichever field of a snapshot that a body takes is not what the log
// says, the run is judged to be wrong, and so is one with a wrong field of a report.
func TestG20EveryFieldOfASampleIsCompared(t *testing.T) {
	for name, p := range sampled() {
		t.Run(name, func(t *testing.T) {
			out := record(t, p)
			bodies, inside := inBodies(out), 0
			for i, s := range out.Samples {
				if !within(bodies, s.After, s.N) {
					continue
				}
				inside++
				everyField(t, p, out, "", func(out *Recording) reflect.Value {
					out.Samples = slices.Clone(out.Samples)
					return reflect.ValueOf(&out.Samples[i].Stats).Elem()
				})
			}
			require.Equal(t, 3, inside, "samples in bodies")
			reports := 0
			for i, r := range out.Reports {
				if !within(bodies, r.After, r.N) {
					continue
				}
				reports++
				skipped := ""
				if r.Report.Timeout > 0 {
					skipped = "Elapsed" // compared when the report is taken
				}
				everyField(t, p, out, skipped, func(out *Recording) reflect.Value {
					out.Reports = slices.Clone(out.Reports)
					return reflect.ValueOf(&out.Reports[i].Report).Elem()
				})
			}
			require.Equal(t, 2, reports, "in bodies, before and after the shutdown call")
		})
	}
}

// everyField alters each field but one of what of returns, in a copy of the recording that it makes.
func everyField(t *testing.T, p Program, right Recording, but string, of func(*Recording) reflect.Value) {
	t.Helper()
	fields := func() (*Recording, reflect.Value) {
		out := right
		return &out, of(&out)
	}
	_, kind := fields()
	for i := range kind.NumField() {
		if kind.Type().Field(i).Name == but {
			continue
		}
		out, altered := fields()
		alter(t, altered.Field(i))
		v, err := Judge(p, *out)
		require.NoError(t, err)
		require.NotEmpty(t, v.Violations, "%v.%s", kind.Type(), kind.Type().Field(i).Name)
		require.Equal(t, "Samples", v.Violations[0].Predicate)
	}
}

// TestG20SamplesOfOtherGoroutines: a sample of an actor is wrong if a counter is beyond what the log allows.
func TestG20SamplesOfOtherGoroutines(t *testing.T) {
	for name, p := range sampled() {
		t.Run(name, func(t *testing.T) {
			right := record(t, p)
			for i := range reflect.TypeFor[core.Stats]().NumField() {
				for _, by := range []int64{-100, 100} {
					out := right
					out.Samples = slices.Clone(out.Samples)
					field := reflect.ValueOf(&out.Samples[0].Stats).Elem().Field(i)
					field.SetInt(field.Int() + by)
					v, err := Judge(p, out)
					require.NoError(t, err)
					require.NotEmpty(t, v.Violations, "%d of field %d", by, i)
				}
			}
		})
	}
}
