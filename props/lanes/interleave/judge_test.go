package interleave

import (
	"errors"
	"reflect"
	"testing"

	"eventide/core"
	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"

	"github.com/stretchr/testify/require"
)

// TestKnownRecordings: a recording is known, and not judged again, if it differs from an earlier
// one in the numbers of goroutines alone.
func TestKnownRecordings(t *testing.T) {
	recording := func(change func(*props.Recording)) uint64 {
		out := props.Recording{
			Events: []history.Event{{N: 1, G: 7, Kind: history.Park}, {N: 2, G: 8, Kind: history.Unpark}},
			Final:  &props.Final{Metered: &props.Metered{}, Faults: &props.Faults{}},
		}
		change(&out)
		return historyHash(&inprocess.Result{}, out)
	}
	known := recording(func(*props.Recording) {})
	require.Equal(t, known, recording(func(out *props.Recording) { out.Events[0].G, out.Events[1].G = 17, 18 }))
	for name, change := range map[string]func(*props.Recording){
		"events":       func(out *props.Recording) { out.Events[1].Kind = history.Wake },
		"one loop":     func(out *props.Recording) { out.Events[1].G = 7 },
		"alarms":       func(out *props.Recording) { out.AlarmsLeft = 1 },
		"an answer":    func(out *props.Recording) { out.Wrong = "two answers contradict" },
		"a size":       func(out *props.Recording) { out.Resized = []props.Resized{{After: 1, Size: 2}} },
		"the report":   func(out *props.Recording) { out.Final.Report.Ran = 1 },
		"the snapshot": func(out *props.Recording) { out.Final.Stats.Parks = 1 },
		"the error":    func(out *props.Recording) { out.Final.Err = errors.New("failed") },
		"the reports":  func(out *props.Recording) { out.Final.Reports.Logged = map[string]int{"panic in a body": 1} },
		"the meter":    func(out *props.Recording) { out.Final.Metered.Busy = 1 },
		"a failure":    func(out *props.Recording) { out.Final.Faults.Closed = errors.New("failed") },
	} {
		require.NotEqual(t, known, recording(change), name)
	}
	one, other := recording(func(out *props.Recording) { out.Final.Report.Running = "goroutine 7" }), recording(func(out *props.Recording) { out.Final.Report.Running = "goroutine 8" })
	require.Equal(t, one, other)
	require.NotEqual(t, known, one)
}

// TestEachFieldOfAnEventIsInTheHash: each field of an event makes a recording another one.
func TestEachFieldOfAnEventIsInTheHash(t *testing.T) {
	hash := func(e history.Event) uint64 {
		return historyHash(&inprocess.Result{}, props.Recording{Events: []history.Event{{G: 7}, e}})
	}
	seen := map[uint64]string{hash(history.Event{}): "none"}
	for i := range reflect.TypeFor[history.Event]().NumField() {
		var e history.Event
		name, f := reflect.TypeOf(e).Field(i).Name, reflect.ValueOf(&e).Elem().Field(i)
		switch f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int, reflect.Int32, reflect.Int64:
			f.SetInt(7)
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.String:
			f.SetString("text")
		default:
			f.SetUint(7)
		}
		was, is := seen[hash(e)]
		require.False(t, is, "%s gives the hash of %s", name, was)
		seen[hash(e)] = name
	}
}

// TestEachFieldOfASampleIsInTheHash: each field of a sample and of its snapshot, and of a report, makes a recording
// another one.
func TestEachFieldOfASampleIsInTheHash(t *testing.T) {
	hash := func(out props.Recording) uint64 {
		out.Events = []history.Event{{N: 1, G: 7, Kind: history.Park}}
		return historyHash(&inprocess.Result{}, out)
	}
	sample := func(s props.Sample) uint64 { return hash(props.Recording{Samples: []props.Sample{s}}) }
	seen := map[uint64]string{sample(props.Sample{}): "none"}
	differs := func(name string, is uint64) {
		was, known := seen[is]
		require.False(t, known, "%s gives the hash of %s", name, was)
		seen[is] = name
	}
	for i := range reflect.TypeFor[core.Stats]().NumField() {
		var s props.Sample
		reflect.ValueOf(&s.Stats).Elem().Field(i).SetInt(7)
		differs(reflect.TypeFor[core.Stats]().Field(i).Name, sample(s))
	}
	differs("After", sample(props.Sample{After: 7}))
	differs("N", sample(props.Sample{N: 7}))
	for i := range 2 {
		var cancelled, rebuilt props.Sample
		cancelled.Cancelled[i], rebuilt.Rebuilt[i] = 7, 7
		differs("Cancelled", sample(cancelled))
		differs("Rebuilt", sample(rebuilt))
	}
	require.Equal(t, 5, reflect.TypeFor[props.Sample]().NumField(), "fields of Sample, each of which is above")
	differs("a report", hash(props.Recording{Reports: []props.ReportSample{{}}}))
	differs("another report", hash(props.Recording{Reports: []props.ReportSample{{Report: core.Report{HooksRun: 7}}}}))
}

// TestEachAnswerIsInTheHash: each field of Final makes a recording another one.
func TestEachAnswerIsInTheHash(t *testing.T) {
	hash := func(f props.Final) uint64 {
		return historyHash(&inprocess.Result{}, props.Recording{Final: &f})
	}
	none := hash(props.Final{})
	for name, f := range map[string]props.Final{
		"Report": {Report: core.Report{Ran: 1}}, "Stats": {Stats: core.Stats{Ran: 1}}, "Err": {Err: errors.New("failed")}, "Early": {Early: 1}, "Traced": {Traced: 1},
		"Reports": {Reports: props.Reports{Handled: 1}}, "Handler": {Handler: props.HandlerPanic}, "Metered": {Metered: &props.Metered{}},
		"Plain": {Plain: true}, "Reopened": {Reopened: 1}, "Kept": {Kept: 1}, "Reads": {Reads: []props.MeterRead{{}}}, "Faults": {Faults: &props.Faults{}},
	} {
		require.NotEqual(t, none, hash(f), name)
		_, is := reflect.TypeFor[props.Final]().FieldByName(name)
		require.True(t, is, name)
	}
	require.Equal(t, 13, reflect.TypeFor[props.Final]().NumField(), "fields of Final, each of which is above")
}
