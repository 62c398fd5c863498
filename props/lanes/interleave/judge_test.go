package interleave

import (
	"reflect"
	"slices"
	"testing"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"

	"github.com/stretchr/testify/require"
)

// TestHistoryHash: it depends on each field of each event but the number of the goroutine, of
// which only the order of appearance counts.
func TestHistoryHash(t *testing.T) {
	log := []history.Event{{N: 1, G: 7}, {N: 2, G: 9}, {N: 3, G: 7, Stats: &history.Stats{Ran: 1}}}
	hash := func(events []history.Event) [2]uint64 {
		return historyHash(&inprocess.Result{}, props.Recording{Events: events})
	}
	first := hash(log)
	other := slices.Clone(log)
	for i := range other {
		other[i].G += 100
	}
	other[2].Stats = &history.Stats{Ran: 1}
	require.Equal(t, first, hash(other), "other numbers, and another copy of the counters")
	other[2].G = other[1].G
	require.NotEqual(t, first, hash(other), "another goroutine")
	require.NotEqual(t, first, hash(log[:2]))
	require.NotEqual(t, first[0], first[1])
	for i := range reflect.TypeFor[history.Event]().NumField() {
		changed := slices.Clone(log)
		field := reflect.ValueOf(&changed[2]).Elem().Field(i)
		switch field.Kind() {
		case reflect.Bool:
			field.SetBool(true)
		case reflect.String:
			field.SetString("x")
		case reflect.Pointer:
			field.Set(reflect.ValueOf(&history.Stats{Ran: 2}))
		case reflect.Int, reflect.Int32, reflect.Int64:
			field.SetInt(99)
		default:
			field.SetUint(99)
		}
		require.NotEqual(t, first, hash(changed), reflect.TypeFor[history.Event]().Field(i).Name)
	}
}
