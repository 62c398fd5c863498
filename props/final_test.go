package props

import (
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// eventful is a program of which every field of the last report and of the last snapshot
// tells something: a body runs as the timeout passes, another panics, a hook and timers
// run, a timer and a future are cancelled, and calls are refused.
func eventful() Program {
	body := func() *Script { return &Script{} }
	return Program{Timers: core.RunDueTimers, Actors: []Actor{{Steps: []Step{
		{Op: history.OpExecute, ID: 1, Body: &Script{End: history.Panicked}},
		{Op: history.OpAddHook, ID: 2, Body: body()},
		{Op: history.OpSchedule, ID: 3, Body: body()},
		{Op: history.OpSchedule, ID: 4, Delay: time.Hour, Body: body()},
		{Op: history.OpExecute, ID: 5, Wait: time.Millisecond, Body: &Script{Sleep: time.Second}},
		{Op: history.OpSubmit, ID: 6, Body: body()},
		{Op: history.OpCancel, Target: 6},
		{Op: history.OpShutdownGracefully, Wait: time.Millisecond, Quiet: 2 * time.Millisecond, Timeout: 3 * time.Millisecond},
		{Op: history.OpExecute, ID: 7, Wait: 10 * time.Millisecond, Body: body()},
	}}}}
}

// TestEveryFieldIsCompared: whichever field of the report or of the last snapshot is not
// what the log says, the run is judged to be wrong.
func TestEveryFieldIsCompared(t *testing.T) {
	p := eventful()
	var out Recording
	synctest.Test(t, func(*testing.T) { out = Run(p) })
	v, err := Judge(p, out)
	require.NoError(t, err)
	require.Empty(t, v.Violations)
	right := *out.Final
	require.NotEmpty(t, right.Report.Running)
	require.True(t, right.Report.TimedOut)

	for name, of := range map[string]func(*Final) reflect.Value{
		"Report": func(f *Final) reflect.Value { return reflect.ValueOf(&f.Report).Elem() },
		"Stats":  func(f *Final) reflect.Value { return reflect.ValueOf(&f.Stats).Elem() },
	} {
		for i := range of(&right).NumField() {
			wrong := right
			field := of(&wrong).Field(i)
			alter(t, field)
			out.Final = &wrong
			v, err := Judge(p, out)
			require.NoError(t, err)
			path := name + "." + of(&wrong).Type().Field(i).Name
			require.NotEmpty(t, v.Violations, path)
		}
	}
	failed := right
	failed.Err = errors.New("no reason")
	out.Final = &failed
	v, err = Judge(p, out)
	require.NoError(t, err)
	require.Equal(t, "G20", v.Violations[0].Guarantee)
	require.Contains(t, v.Violations[0].Text, "Termination.Err is no reason")
}

// alter changes a field to another value.
func alter(t *testing.T, field reflect.Value) {
	t.Helper()
	switch field.Kind() {
	case reflect.Int32, reflect.Int64:
		field.SetInt(field.Int() + 1)
	case reflect.Bool:
		field.SetBool(!field.Bool())
	case reflect.String:
		if field.String() != "" {
			field.SetString("")
		} else {
			field.SetString("something")
		}
	default:
		require.Fail(t, "alter does not know the kind of a field", "%v", field.Kind())
	}
}
