package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"eventide/props/internal/runner"
	"eventide/props/mutant"
)

// The plain stress program: 64 producers at full speed through one shutdown after the
// other, in real time and with nobody choosing schedules; the books of each balanced
// to the last task. What it misses is what the lanes are for.
const (
	stressPackage = "stress"
	stressTest    = "^TestShutdownsUnderLoad$"
	stressGrace   = time.Minute // beyond its time, before it counts as a hang
)

// stressed is what the plain stress program made of a mutant.
type stressed struct {
	Verdict string  `json:"verdict"`
	Seconds float64 `json:"seconds"`
	Reason  string  `json:"reason,omitempty"` // what was seen
}

// stresser runs the plain stress program with mutants in it.
type stresser struct {
	settings
	build    func(pkg, bin, overlay string) error
	run      func(bin string, d time.Duration) (output string, failed bool, err error)
	kept     *kept[stressed]
	progress io.Writer
	mu       sync.Mutex // of kept and progress
}

func newStresser(s settings, progress io.Writer) (*stresser, error) {
	k, err := readKept[stressed](s.stressFile())
	return &stresser{settings: s, build: s.buildStress, run: s.runStress, kept: k, progress: progress}, err
}

func (s settings) stressFile() string { return filepath.Join(s.dirs[0], "stress.json") }

// all stresses the mutants whose result is not known, after core as it is.
func (t *stresser) all(planted []mutant.Mutant) error {
	var todo []mutant.Mutant
	for _, m := range planted {
		_, known := t.kept.of(m)
		if byStress[newEntry(m).Target] && (t.force || !known) {
			todo = append(todo, m)
		}
	}
	fmt.Fprintf(t.progress, "%d mutants to stress for %v each, the results go to %s\n", len(todo), t.stressFor, t.kept.path)
	if len(todo) == 0 {
		return nil
	}
	if out, failed, err := t.plant(mutant.Mutant{Name: "control"}); err != nil || failed {
		return errors.Join(err, fmt.Errorf("the stress program fails without a mutant, so that it fails with one means nothing:\n%s", out))
	}
	return newRoom(t.parallel).each(todo, t.one)
}

func (t *stresser) one(m mutant.Mutant) error {
	began := time.Now()
	out, failed, err := t.plant(m)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	v := stressed{Verdict: survived, Seconds: time.Since(began).Seconds()}
	if failed {
		v.Verdict, v.Reason = killed, firstComplaint(out)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.progress, "%s: %s, %.1f s with the build %s\n", m.Name, v.Verdict, v.Seconds, v.Reason)
	return t.kept.put(m, v)
}

// plant builds the program with m in it and runs it.
func (t *stresser) plant(m mutant.Mutant) (output string, failed bool, err error) {
	dir, err := filepath.Abs(filepath.Join(t.out, "stress", m.Name))
	if err != nil {
		return "", false, err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.Overlay(t.root, dir)
	if err != nil {
		return "", false, err
	}
	bin := filepath.Join(dir, "tests")
	if err := t.build(stressPackage, bin, overlay); err != nil {
		return "", false, err
	}
	return t.run(bin, t.stressFor)
}

func (s settings) buildStress(pkg, bin, overlay string) error {
	_, err := runner.Tests{Root: s.root, Package: pkg, Bin: bin, Overlay: overlay}.Build()
	return err
}

// runStress runs the program for d. A hang is a failure.
func (s settings) runStress(bin string, d time.Duration) (string, bool, error) {
	exit, err := runner.Process{
		Bin: bin, Dir: filepath.Join(s.root, stressPackage), Args: []string{"-test.run", stressTest, "-test.timeout", "0"},
		Env: []string{"EVENTIDE_SOAK=" + d.String()}, Limit: d + stressGrace,
	}.Run()
	if exit.Hung {
		return fmt.Sprintf("panic: it did not end within %v", d+stressGrace), true, nil
	}
	return exit.Output, exit.Failed, err
}

// leastStressed is how many mutants must survive plain stress: of fewer, they are too
// easy to say anything for the lanes.
const leastStressed = 20

func (s settings) runStressMode(all, planted []mutant.Mutant, marks map[string]mark, stdout, stderr io.Writer) int {
	equivalent := func(m mutant.Mutant) bool { return marks[m.Name].equivalent != "" }
	all, whole := slices.DeleteFunc(slices.Clone(all), equivalent), len(planted) == len(all)
	planted = slices.DeleteFunc(slices.Clone(planted), equivalent) // that they survive says nothing
	t, err := newStresser(s, stderr)
	if err == nil {
		t.kept.prune(all)
		err = t.all(planted)
	}
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	counts := map[string]int{}
	for _, m := range all {
		if v, known := t.kept.of(m); known {
			counts[v.Verdict]++
		}
	}
	fmt.Fprintf(stdout, "plain stress of %v: %d mutants survived, %d did not; want at least %d survivors\n", s.stressFor, counts[survived], counts[killed], leastStressed)
	if counts[survived] < leastStressed && whole {
		return 1
	}
	return 0
}
