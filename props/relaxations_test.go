package props

import (
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/props/history"
)

// TestRelaxations: each row of the table says why, and takes something away that no
// other row does. What the lane Virtual shows of a program without a slow spawner is
// judged in full.
func TestRelaxations(t *testing.T) {
	programs := []Program{
		{}, {Starts: []Start{StartSlow}},
		{Actors: []Actor{{Steps: []Step{{Body: &Script{Listen: true}}}}}},
		{Pool: 2},
		{Clock: ClockRounded},
		{Actors: []Actor{{Steps: []Step{{Env: EnvClock, Fault: FaultBack}}}}},
		{Actors: []Actor{{Steps: []Step{{Env: EnvClock, Fault: FaultAhead}}}}},
		{Timers: history.RunDueTimers},
		{Timers: history.RunDueTimers, Actors: []Actor{{Steps: []Step{{Op: history.OpSchedule, Times: 64}}}}},
	}
	all := relaxations
	defer func() { relaxations = all }()
	everything := func() (list []terms) {
		for lane := Virtual; lane <= Ticking; lane <<= 1 {
			for _, p := range programs {
				list = append(list, termsOf(lane, p))
			}
		}
		return list
	}
	want := everything()
	for i, r := range all {
		require.NotEmpty(t, r.why, "row %d", i)
		relaxations = append(all[:i:i], all[i+1:]...)
		require.NotEqual(t, want, everything(), "without the row %q nothing changes", r.why)
	}
	relaxations = nil
	strict := termsOf(Virtual, Program{})
	relaxations = all
	require.Equal(t, strict, termsOf(Virtual, Program{}))
	require.Equal(t, strict, termsOf(Virtual, programs[2]))
}
