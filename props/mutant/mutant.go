// Package mutant plants bugs: small named changes of the sources, built by
// go build -overlay so that nothing on disk changes. A check that never caught
// one has not been shown to work.
package mutant

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"eventide/props/internal/runner"
)

// Mutant is one planted bug. Its file format is described in
// testdata/mutants/README.md.
type Mutant struct {
	Name      string // the file's name without .mutant
	Guarantee string // what it breaks: "G3"
	StandsFor string // the incident or rule that it remembers
	Edits     []Edit

	// Of several mutants that share a program: the changed files with all of them in, made
	// already, and which of them runs (package chosen).
	Texts  map[string]string
	Number int
}

// Changes reports whether the sources of the mutant differ from those on disk.
func (m Mutant) Changes() bool { return len(m.Edits)+len(m.Texts) > 0 }

// Alone is the mutant without those that it shares a program with.
func (m Mutant) Alone() Mutant {
	m.Texts, m.Number = nil, 0
	return m
}

// Edit replaces a text that occurs exactly once in a file.
type Edit struct {
	File     string // from the root of the module
	Old, New string
}

const (
	extension = ".mutant"
	oldMark   = "<<<<"
	newMark   = "===="
	endMark   = ">>>>"
)

// Load reads every mutant in dir, in the order of their names.
func Load(dir string) ([]Mutant, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("mutant: no *%s in %s", extension, dir)
	}
	var all []Mutant
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		m, err := parse(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("mutant: %s: %w", path, err)
		}
		m.Name = strings.TrimSuffix(filepath.Base(path), extension)
		all = append(all, m)
	}
	return all, nil
}

// parser reads one mutant, line by line.
type parser struct {
	m    Mutant
	file string
	into *string // the half of an edit that lines go to
}

func parse(r io.Reader) (Mutant, error) {
	var p parser
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		if err := p.line(lines.Text()); err != nil {
			return p.m, fmt.Errorf("line %d: %w", n, err)
		}
	}
	switch {
	case lines.Err() != nil:
		return p.m, lines.Err()
	case p.into != nil:
		return p.m, fmt.Errorf("ends inside an edit, want %s", endMark)
	case p.m.Guarantee == "" || p.m.StandsFor == "" || len(p.m.Edits) == 0:
		return p.m, fmt.Errorf("want the headers guarantee and stands for, and at least one edit")
	}
	return p.m, nil
}

func (p *parser) line(text string) error {
	last := len(p.m.Edits) - 1
	switch {
	case text == oldMark && p.into == nil && p.file != "":
		p.m.Edits = append(p.m.Edits, Edit{File: p.file})
		p.into = &p.m.Edits[last+1].Old
	case text == newMark && p.into != nil && p.into == &p.m.Edits[last].Old:
		p.into = &p.m.Edits[last].New
	case text == endMark && p.into != nil && p.into == &p.m.Edits[last].New:
		p.into = nil
	case p.into != nil:
		*p.into += text + "\n"
	case text != "" && !strings.HasPrefix(text, "#"):
		return p.header(text)
	}
	return nil
}

func (p *parser) header(text string) error {
	key, value, ok := strings.Cut(text, ": ")
	if !ok {
		return fmt.Errorf("%q, want a header, %s, or a line that begins with #", text, oldMark)
	}
	switch key {
	case "guarantee":
		p.m.Guarantee = value
	case "stands for":
		p.m.StandsFor = value
	case "file":
		p.file = value
	default:
		return fmt.Errorf("unknown header %q, want guarantee, stands for or file", key)
	}
	return nil
}

// Apply returns the changed files. A text that is not there exactly once is an
// error, not a skip: the mutant has to be brought up to date.
func (m Mutant) Apply(root string) (map[string]string, error) {
	if m.Texts != nil {
		return m.Texts, nil
	}
	changed := map[string]string{}
	for _, e := range m.Edits {
		text, ok := changed[e.File]
		if !ok {
			data, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				return nil, fmt.Errorf("mutant: %s: %w", m.Name, err)
			}
			text = string(data)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return nil, fmt.Errorf("mutant: %s no longer applies: its text occurs %d times in %s, want 1:\n%s", m.Name, n, e.File, e.Old)
		}
		changed[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	return changed, nil
}

// Overlay writes the changed files and an overlay.json to dir, and returns the
// path of the latter, for go build -overlay.
func (m Mutant) Overlay(root, dir string) (string, error) {
	changed, err := m.Apply(root)
	if err != nil {
		return "", err
	}
	return runner.Overlay(root, dir, changed)
}
