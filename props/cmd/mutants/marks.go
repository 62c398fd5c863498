package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"eventide/props/mutant"
)

// The lanes that may look for a mutant.
const (
	laneVirtual    = "virtual"    // the properties in virtual time
	laneInterleave = "interleave" // chosen schedules
	laneRace       = "race"       // chosen schedules, with the race detector
	laneTest       = "test"       // a test of the package that it changes
)

// mark is what a mutant's file says, in lines that are comments before its first edit:
//
//	# lane: interleave      who should look for it; or race, or a lane of package shadow
//	# killed by: ^TestName$ the test that should, in lane test
//	# package: model        where that test is, if not beside the first file that changes
//	# equivalent: because   nobody can see it, and why
//
// One that says nothing is looked for in the virtual lane, and by those who choose
// schedules if it is not seen there. One that is said to be equivalent is looked for
// all the same.
type mark struct {
	lane       string
	killer     string
	pkg        string
	equivalent string
}

// loadAll reads the mutants of several directories, and their marks by name.
func loadAll(dirs []string) ([]mutant.Mutant, map[string]mark, error) {
	var all []mutant.Mutant
	marks := map[string]mark{}
	for _, dir := range dirs {
		some, err := mutant.Load(dir)
		if err != nil {
			return nil, nil, err
		}
		for _, m := range some {
			if _, ok := marks[m.Name]; ok {
				return nil, nil, fmt.Errorf("there are two mutants %s, one of them in %s", m.Name, dir)
			}
			if marks[m.Name], err = readMark(filepath.Join(dir, m.Name+".mutant")); err != nil {
				return nil, nil, err
			}
		}
		all = append(all, some...)
	}
	return all, marks, nil
}

func readMark(path string) (m mark, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	m.lane = laneVirtual
	head, _, _ := strings.Cut(string(text), "\n<<<<\n")
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "# lane":
			m.lane = value
		case "# killed by":
			m.lane, m.killer = laneTest, value
		case "# package":
			m.pkg = value
		case "# equivalent":
			m.equivalent = value
		}
	}
	if m.pkg != "" && m.killer == "" {
		return m, fmt.Errorf("%s: it names a package, and no test in it by a line \"# killed by: \"", path)
	}
	switch m.lane {
	case laneVirtual, laneInterleave, laneRace:
		return m, nil
	case "sockets", "blocking", "exits":
		return m, nil
	case laneTest:
		if m.killer != "" {
			return m, nil
		}
	}
	return m, fmt.Errorf("%s: the lane is %q, want %s, %s, %s, or a line \"# killed by: \" with a test", path, m.lane, laneVirtual, laneInterleave, laneRace)
}
