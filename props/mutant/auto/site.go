package auto

import (
	"fmt"
	"path/filepath"
	"strings"

	"eventide/props/mutant"
)

// Site is one place in the sources and one operator that can change it.
type Site struct {
	Operator string // of Operators
	Function string // as in (*Executor).turn, or "" outside of functions
	Line     int

	pkg  *pkg
	file *file
	ways []edit
}

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

// Package is the directory of the site's package, from the root: core/tcp.
func (s Site) Package() string { return filepath.ToSlash(filepath.Dir(s.file.name)) }

// Pick is a site that was drawn, and the way in which it is changed. It compiles.
type Pick struct {
	Site
	Way int // which of the site's ways
}

// Name tells the pick from every other one of the same sources: auto-core-loop-120-negate-4503-4510-0
// is way 0 of an operator on the bytes from 4503 to 4510. The start alone is not enough: a && b and
// its operand a begin at one place, and negate changes both.
func (p Pick) Name() string {
	file := strings.TrimSuffix(strings.ReplaceAll(p.file.name, "/", "-"), ".go")
	e := p.ways[p.Way]
	return fmt.Sprintf("auto-%s-%d-%s-%d-%d-%d", file, p.Line, p.Operator, e.start, e.end, p.Way)
}

// String is the place and what was done to it: core/loop.go:120 negate: a < b -> a >= b.
func (p Pick) String() string {
	e := p.ways[p.Way]
	return fmt.Sprintf("%s:%d %s: %s -> %s", p.file.name, p.Line, p.Operator, short(string(p.file.text[e.start:e.end])), short(e.text))
}

// short is a text in one line that fits a table.
func short(text string) string {
	const most = 60
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "nothing"
	}
	if r := []rune(text); len(r) > most {
		text = string(r[:most-3]) + "..."
	}
	return text
}

// Mutant is the pick as a planted bug: its text can be kept in a file of testdata/mutants,
// and it is applied in the same way. Its guarantee is "all", since nobody chose one.
func (p Pick) Mutant() mutant.Mutant {
	e := p.ways[p.Way]
	before, after := p.context(e)
	return mutant.Mutant{
		Name: p.Name(), Guarantee: "all", StandsFor: p.String(),
		Edits: []mutant.Edit{{File: p.file.name, Old: before, New: after}},
	}
}

// Changed is the text of the file that the pick changes, by its name, as Mutant.Apply
// returns it.
func (p Pick) Changed() map[string]string {
	e, text := p.ways[p.Way], string(p.file.text)
	return map[string]string{p.file.name: text[:e.start] + e.text + text[e.end:]}
}

// context is the edit in whole lines: as few as make the old text occur once in the file.
func (p Pick) context(e edit) (before, after string) {
	text := string(p.file.text)
	start, end := lineStart(text, e.start), lineEnd(text, e.end)
	for strings.Count(text, text[start:end]) > 1 {
		if start > 0 {
			start = lineStart(text, start-1)
		}
		if end < len(text) {
			end = lineEnd(text, end+1)
		}
	}
	return text[start:end], text[start:e.start] + e.text + text[e.end:end]
}

// lineStart is where the line of offset at begins.
func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd is behind the newline that ends the line of offset at.
func lineEnd(text string, at int) int {
	if at > 0 && text[at-1] == '\n' {
		return at
	}
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}
