package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"eventide/props/lane"

	"github.com/stretchr/testify/require"
)

// script returns an aloneLane of a shell script.
func script(t *testing.T, name, text string) aloneLane {
	bin := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(bin, []byte("#!/bin/sh\n"+text), 0o755))
	return aloneLane{name, lane.Run{Bin: bin}}
}

// TestSpeedOfLanesAlone: each round has a seed and a value of its own, on one processor.
func TestSpeedOfLanesAlone(t *testing.T) {
	v := &verification{settings: settings{root: "../../..", out: t.TempDir(), budget: time.Hour, seed: 7, speed: 2}}
	first := script(t, "first", `echo "@@{\"runs\":${EVENTIDE_LANE_SEED}00,\"processor_seconds\":${GOMAXPROCS}}"`)
	second := script(t, "second", `echo '@@{"runs":50,"processor_seconds":5,"steps_per_processor_second":3e6,"speed":[{"program":"p","steps_per_second":9}]}'`)
	a, err := v.runAlone([]aloneLane{first, second})
	require.NoError(t, err)
	require.InDelta(t, 3600, a.Seconds, 0)
	require.Equal(t, []lane.AloneLane{
		{Lane: "first", Runs: []float64{700, 800}},
		{Lane: "second", Runs: []float64{10, 10}, Steps: []float64{3e6, 3e6}, Speed: []lane.Speed{{Program: "p", Steps: 9}}},
	}, a.Lanes)
}

// TestSpeedOfALaneThatFails: there is none.
func TestSpeedOfALaneThatFails(t *testing.T) {
	v := &verification{settings: settings{root: "../../..", out: t.TempDir(), budget: time.Hour, seed: 7, speed: 1}}
	for text, want := range map[string]string{
		`echo '@@{"runs":1,"failed":{"G3":"task 2 never ran"}}'`: "lane it, seed 7: it found a violation: map[G3:task 2 never ran]",
		`echo '@@{"runs":1}'; exit 3`:                            "lane it, seed 7: the lane crashed after 1 runs",
		`echo PASS`:                                              "lane it, seed 7: the lane printed no result",
	} {
		_, err := v.runAlone([]aloneLane{script(t, "it", text)})
		require.ErrorContains(t, err, want)
	}
}
