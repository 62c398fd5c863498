package props

import (
	"testing"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// TestNameEnds: an end that the loop made belongs to a registration that was open; one
// that is left over is blamed, and does not pass for a mistake of the harness.
func TestNameEnds(t *testing.T) {
	registered := func(id int) []history.Event {
		return []history.Event{
			{Kind: history.Invoke, Op: history.OpRegister, ID: id},
			{Kind: history.Admit, Op: history.OpRegister, ID: id, Outcome: history.Accepted},
		}
	}
	end := history.Event{Kind: history.Ended, Outcome: history.Normal}
	told := func(id int) history.Event {
		return history.Event{Kind: history.Begin, Body: history.BodyListener, ID: id}
	}
	log := func(parts ...history.Event) []history.Event {
		for i := range parts {
			parts[i].N = i + 1
		}
		return parts
	}
	two := append(registered(1), registered(2)...)

	events := log(append(two, end, end, told(2), told(1))...)
	require.Nil(t, NameEnds(events))
	require.Equal(t, []int{2, 1}, []int{events[4].ID, events[5].ID}, "in the order in which the owners were told")

	events = log(append(two, end, end, end)...)
	broken := NameEnds(events)
	require.NotNil(t, broken)
	require.Equal(t, "G22", broken.Guarantee)
	require.Equal(t, "the end at #7 is that of no registration that was open", broken.Text)

	v, err := JudgeIn(Virtual, Program{}, Recording{Events: log(append(two, end, end, end)...)})
	require.NoError(t, err)
	require.Len(t, v.Against("G22"), 1)
}
