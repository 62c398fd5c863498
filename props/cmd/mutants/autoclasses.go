package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eventide/props/mutant"
	"eventide/props/mutant/auto"
	"eventide/props/mutant/score"
)

// classes are mechanical mutants that change no behaviour, each with the reason. They are
// files of planted bugs with one of these lines before the edit:
//
//	# equivalent: the proof that no check can see it
//	# performance: the benchmark that shows what it changes
//	# memory: the figure that shows what it changes
type classes []classifiedMutant

type classifiedMutant struct {
	name    string
	verdict score.Verdict
	proof   string
	edit    score.Edit
	changed map[string]string // the files, as the mutant makes them
}

// readClasses reads the files of dir. A directory that is not there has none.
func readClasses(root, dir string) (classes, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.mutant"))
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	planted, err := mutant.Load(dir)
	if err != nil {
		return nil, err
	}
	var all classes
	for _, m := range planted {
		c, err := readClass(filepath.Join(dir, m.Name+".mutant"))
		if err != nil {
			return nil, err
		}
		if c.changed, err = m.Apply(root); err != nil {
			return nil, err
		}
		c.name = m.Name
		c.edit = score.Edit{File: m.Edits[0].File, Old: m.Edits[0].Old, New: m.Edits[0].New}
		all = append(all, c)
	}
	return all, nil
}

func readClass(path string) (c classifiedMutant, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	head, _, _ := strings.Cut(string(text), "\n<<<<\n")
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for _, v := range []score.Verdict{score.Equivalent, score.Slower, score.Larger} {
			if key == "# "+string(v) {
				c.verdict, c.proof = v, value
			}
		}
	}
	if c.proof == "" {
		return c, fmt.Errorf("%s: no reason, want a line \"# equivalent: \", \"# performance: \" or \"# memory: \"", path)
	}
	return c, nil
}

// apply gives a survivor the class of its file. A mutant that is killed and said to change
// no behaviour is an error: its proof is wrong.
func (all classes) apply(p auto.Pick, v score.Pick) (score.Pick, error) {
	for _, c := range all {
		switch {
		case !maps.Equal(c.changed, p.Changed()):
		case v.Verdict == score.Killed:
			return v, fmt.Errorf("%s is said to be %s (%s), and %s see it: %s", c.name, c.verdict, c.proof, v.By(), v.What())
		default:
			v.Verdict, v.Proof = c.verdict, c.proof
		}
	}
	return v, nil
}

// fill gives survivors of kept runs the class of their file. What was set aside stays so:
// its file may have changed with the sources.
func (all classes) fill(k *score.Kept) {
	for _, r := range k.Runs {
		for i := range r.Picks {
			p := &r.Picks[i]
			at := slices.IndexFunc(all, func(c classifiedMutant) bool { return c.edit == p.Edit })
			if at >= 0 && p.Verdict == score.Survived {
				p.Verdict, p.Proof = all[at].verdict, all[at].proof
			}
		}
	}
}

// reconsider gives a survivor that is known the class that it has today.
func (all classes) reconsider(f *score.File, p auto.Pick, old score.Pick) error {
	if old.Verdict != score.Killed {
		old.Verdict, old.Proof = score.Survived, ""
	}
	v, err := all.apply(p, old)
	if err != nil || v.Verdict == score.Killed {
		return err
	}
	return f.Put(v)
}
