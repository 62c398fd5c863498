package main

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"eventide/props"
	"eventide/props/lane"
	"eventide/props/mutant"

	"github.com/stretchr/testify/require"
)

// scripted is a searcher whose lane gives the answers of a table, by the guarantee
// that it is asked about.
func scripted(t *testing.T, answers map[string]lane.Result) (*searcher, *[]string) {
	asked := &[]string{}
	s := newSearcher(settings{root: module, out: t.TempDir(), own: time.Second, all: 3 * time.Second})
	s.build = func(name, overlay string) (string, error) { return name, nil }
	s.look = func(_, _, only string, budget time.Duration) (lane.Result, error) {
		*asked = append(*asked, only+" "+budget.String())
		r, ok := answers[only]
		if !ok {
			return r, errors.New("nobody answers")
		}
		return r, nil
	}
	return s, asked
}

func planted(guarantee string) mutant.Mutant {
	edit := mutant.Edit{File: "core/state.go", Old: "package core\n", New: "package core // changed\n"}
	return mutant.Mutant{Name: "m", Guarantee: guarantee, Edits: []mutant.Edit{edit, edit2}}
}

var edit2 = mutant.Edit{File: "core/hooks.go", Old: "package core\n", New: "package core // changed\n"}

func TestOwnPropertyFirst(t *testing.T) {
	found := map[string]string{"G3": "G3 accepted tasks run before done: task 2 never ran"}
	for name, c := range map[string]struct {
		guarantee string
		answers   map[string]lane.Result
		asked     []string
		want      entry
	}{
		"seen by its own": {
			"G3", map[string]lane.Result{"G3": {Runs: 5, Failed: found}}, []string{"G3 1s"},
			entry{Verdict: killed, By: "G3", Predicate: "S2", Schedules: 5, Reason: found["G3"]},
		},
		"seen by another": {
			"G12", map[string]lane.Result{"G12": {Runs: 5}, "": {Runs: 7, Failed: found}}, []string{"G12 1s", " 3s"},
			entry{Verdict: killed, By: "G3", Predicate: "S2", Schedules: 12, Reason: found["G3"]},
		},
		"seen by nobody": {
			"G12", map[string]lane.Result{"G12": {Runs: 5}, "": {Runs: 7}}, []string{"G12 1s", " 3s"},
			entry{Verdict: survived, Schedules: 12, Reason: "not seen in 12 runs"},
		},
		"without a property": {
			"G25", map[string]lane.Result{"": {Runs: 7, Failed: found}}, []string{" 3s"},
			entry{Verdict: killed, By: "G3", Predicate: "S2", Schedules: 7, Reason: found["G3"]},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, asked := scripted(t, c.answers)
			e, err := s.try(planted(c.guarantee))
			require.NoError(t, err)
			require.Equal(t, c.asked, *asked)
			require.Positive(t, e.Seconds)
			c.want.Name, c.want.Guarantee, c.want.Lane, c.want.Seconds = "m", c.guarantee, "virtual", e.Seconds
			c.want.Target, c.want.Files = "termination", "core/state.go, core/hooks.go"
			require.Equal(t, c.want, e)
		})
	}
}

// TestKeptCaseSaysWhoseKill: a run of all properties may report more than what made
// it fail, and a case of an earlier build says nothing.
func TestKeptCaseSaysWhoseKill(t *testing.T) {
	both := map[string]string{"G4": "G4 x", "G15": "G15 y"}
	s, _ := scripted(t, map[string]lane.Result{"G3": {Runs: 5}, "": {Runs: 7, Failed: both}})
	dir := filepath.Join(s.out, "mutants", "m")
	_, err := props.Case{Guarantee: "G9"}.Save(dir)
	require.NoError(t, err)
	e, err := s.try(planted("G3"))
	require.NoError(t, err)
	require.Equal(t, "G4", e.By)
	require.Equal(t, "G3", keptFor(dir, "G3"))
	answer := s.look
	s.look = func(bin, cases, only string, budget time.Duration) (lane.Result, error) {
		_, err := props.Case{Guarantee: "G15"}.Save(cases)
		require.NoError(t, err)
		return answer(bin, cases, only, budget)
	}
	e, err = s.try(planted("G3"))
	require.NoError(t, err)
	require.Equal(t, "G15", e.By)
}

func TestLaneThatShowsNothingIsAnError(t *testing.T) {
	s, _ := scripted(t, nil)
	_, err := s.try(planted("G3"))
	require.EqualError(t, err, "nobody answers")
	s.build = func(string, string) (string, error) { return "", errors.New("does not build") }
	_, err = s.try(planted("G3"))
	require.EqualError(t, err, "does not build")
}

func TestControl(t *testing.T) {
	s, _ := scripted(t, map[string]lane.Result{"": {Runs: 7}})
	require.NoError(t, s.control())
	s, _ = scripted(t, map[string]lane.Result{"": {Runs: 7, Failed: map[string]string{"G3": "task 2 never ran"}}})
	require.ErrorContains(t, s.control(), "without a mutant, so what it finds with one means nothing: task 2 never ran")
	s, _ = scripted(t, map[string]lane.Result{"": {Runs: 7, Ending: lane.Crashed, Output: "panic: x\n"}})
	require.ErrorContains(t, s.control(), "panic: x")
	s, _ = scripted(t, nil)
	require.EqualError(t, s.control(), "without a mutant: nobody answers")
}

// TestHungOnceIsABusyMachine: only what hangs twice hangs; and what hung before it had run
// anything shows nothing.
func TestHungOnceIsABusyMachine(t *testing.T) {
	found := lane.Result{Runs: 1, Failed: map[string]string{"G3": "x"}}
	hung := lane.Result{Runs: 1, Ending: lane.Hung}
	foundAndHung := lane.Result{Runs: 1, Ending: lane.Hung, Failed: found.Failed}
	silent := lane.ErrSilent{Ending: lane.Hung, Output: "?"}
	for name, c := range map[string]struct {
		runs []any
		want lane.Result
		err  string
	}{
		"no hang":                {[]any{found}, found, ""},
		"once":                   {[]any{hung, found}, found, ""},
		"twice":                  {[]any{hung, hung}, hung, ""},
		"hung, and found before": {[]any{foundAndHung}, foundAndHung, ""},
		"cut off":                {[]any{lane.Result{Runs: 1, Seconds: 1, Ending: lane.Hung}}, lane.Result{Runs: 1, Seconds: 1}, ""},
		"silent once":            {[]any{silent, found}, found, ""},
		"silent twice":           {[]any{silent, silent}, lane.Result{}, "the lane hung before it had run anything"},
		"another error":          {[]any{errors.New("does not start")}, lane.Result{}, "does not start"},
	} {
		t.Run(name, func(t *testing.T) {
			left := c.runs
			got, err := twiceIfHung(time.Second, func() (lane.Result, error) {
				next := left[0]
				left = left[1:]
				if err, ok := next.(error); ok {
					return lane.Result{}, err
				}
				return next.(lane.Result), nil
			})
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, c.want, got)
			require.Empty(t, left)
		})
	}
}
