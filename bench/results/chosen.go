package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"eventide/props/interleave/evidence"
)

// chosen is what the page shows of the files about chosen schedules. A part that is nil
// was not run.
type chosen struct {
	Kernels       *evidence.Kernels
	Modules, Race *modules
	Healthy       *evidence.Healthy
	Determinism   *evidence.Determinism
	Speed         *evidence.Speed
}

// readChosen reads the files in dir.
func readChosen(dir string) (c chosen, err error) {
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, read := range []func() error{
		func() error { return optional(&c.Kernels, file("kernels.json"), evidence.ReadKernels) },
		func() error { return optional(&c.Modules, file("modules.json"), readModules) },
		func() error { return optional(&c.Race, file("modules-race.json"), readModules) },
		func() error { return optional(&c.Healthy, file("healthy.json"), evidence.ReadHealthy) },
		func() error { return optional(&c.Determinism, file("determinism.json"), evidence.ReadDeterminism) },
		func() error { return optional(&c.Speed, file("speed.json"), evidence.ReadSpeed) },
	} {
		if err := read(); err != nil {
			return c, err
		}
	}
	return c, nil
}

// optional sets a part to what a file holds, if there is one.
func optional[T any](into **T, name string, read func(string) (*T, error)) error {
	got, err := read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	*into = got
	return nil
}

// modules is what it shows of the exploration of others' modules.
type modules struct {
	Go      string
	Options struct{ Schedules uint64 }
	Modules []module
}

type module struct {
	Module, Commit string
	Tests, Run     int
	Schedules      uint64
	Failing        int
	Failed         string
	Findings       []struct {
		Class, Repeats string
		Timing         bool
	}
}

func readModules(name string) (*modules, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	m := &modules{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("results: %s: %w", name, err)
	}
	return m, nil
}

// Total adds up the modules.
func (m *modules) Total() module {
	var sum module
	for _, r := range m.Modules {
		sum.Tests += r.Tests
		sum.Run += r.Run
		sum.Schedules += r.Schedules
		sum.Failing += r.Failing
		sum.Findings = append(sum.Findings, r.Findings...)
	}
	return sum
}

// CutOff counts the modules whose time was up before all of their tests were explored.
func (m *modules) CutOff() int {
	n := 0
	for _, r := range m.Modules {
		if r.Failed != "" {
			n++
		}
	}
	return n
}

// A share is a count of findings, and of the modules that have them.
type share struct {
	Name              string
	Findings, Modules int
}

// Classes counts the findings by their class.
func (m *modules) Classes() []share {
	return m.shares(func(class, _ string) string { return class })
}

// Repeats counts them by how they repeat in a fresh process.
func (m *modules) Repeats() []share {
	return m.shares(func(_, repeats string) string { return repeats })
}

func (m *modules) shares(by func(class, repeats string) string) []share {
	counts := map[string]*share{}
	for _, r := range m.Modules {
		here := map[string]bool{}
		for _, f := range r.Findings {
			name := by(f.Class, f.Repeats)
			if counts[name] == nil {
				counts[name] = &share{Name: name}
			}
			counts[name].Findings++
			here[name] = true
		}
		for name := range here {
			counts[name].Modules++
		}
	}
	var list []share
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, *counts[name])
	}
	return list
}

// Tools counts the modules by the revision of the tool that explored them.
func (m *modules) Tools() map[string]int {
	n := map[string]int{}
	for _, r := range m.Modules {
		n[r.Commit]++
	}
	return n
}
