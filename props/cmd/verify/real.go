package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"eventide/props/faults/overlay"
	"eventide/props/lane"
)

// realReport has the counts of the real lane. Its verdicts are in the rows of the guarantees.
type realReport struct {
	Programs int              `json:"programs"`
	Faults   map[string]int64 `json:"faults"` // how often each was injected into a system call of a poller
}

// enoughPrograms is after how many programs in real time every fault must have been injected. The
// rarest is injected some ten times in so many.
const enoughPrograms = 10_000

func realOf(r lane.Result) realReport { return realReport{r.Runs, r.Faults} }

func (r realReport) print(w io.Writer) {
	if r.Programs == 0 || len(r.Faults) == 0 {
		return
	}
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(r.Faults)) {
		counts = append(counts, fmt.Sprintf("%d %s", r.Faults[kind], kind))
	}
	fmt.Fprintf(w, "real     %d programs, faults injected: %s\n", r.Programs, strings.Join(counts, ", "))
}

// objections has one for each fault that was never injected, if there were enough programs.
func (r realReport) objections() (all []objection) {
	if r.Programs < enoughPrograms {
		return nil
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Faults)) {
		if r.Faults[kind] == 0 {
			all = append(all, objection{3, fmt.Sprintf("real not run: %s was never injected in %d programs", kind, r.Programs), ""})
		}
	}
	return all
}

// buildReal builds the properties so that system calls of pollers can fail, on a system that has
// them, and returns the path of the program.
func (v *verification) buildReal() (string, error) {
	if runtime.GOOS != "linux" {
		return v.build("props", "")
	}
	file, err := overlay.Write(v.root, filepath.Join(v.out, "faults"))
	if err != nil {
		return "", err
	}
	return v.build("real", file)
}
