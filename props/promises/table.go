// Package promises reads the tables of testdata/promises. A table lists what the doc comments
// of a package, or the pages of a directory, promise, and for each promise the checks that
// fail if it is broken.
// testdata/promises/README.md describes the format.
package promises

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Table is the promises of one package, or of the pages of one directory.
type Table struct {
	Package string // its directory from the root of the module: "core"
	Pages   bool   // the directory has pages (*.md) instead of a package
	Symbols []Symbol
}

// Symbol is an exported symbol with the promises of its doc comment, or a part of a page with
// its promises.
type Symbol struct {
	// Name is "Execute", "Executor.Execute", or PackageComment for the comment of the package.
	// Of pages it is "page.md" for the text above the first heading, and "page.md: Heading".
	Name     string
	Line     int
	Promises []Promise // none: its comment says what it is, and promises nothing
}

// PackageComment is the Symbol.Name of the doc comment of the package.
const PackageComment = "package"

// Promise is one promise and its evidence.
type Promise struct {
	Text string
	Line int

	Tests  []string // "TestX" of the package, or "dir.TestX"
	Added  []string // tests that were written because the promise had none
	Bugs   []string // planted bugs of testdata/mutants that the tests or the property of the guarantee see
	Breaks []Break  // changes that the tests see

	See []Reference // promises of other tables that say the same, and have checks

	Untestable string // why no check can see it broken
	Withdrawn  string // why the comment does not say it any more
}

// Reference names a promise of another table.
type Reference struct{ Package, Symbol, Text string }

func (r Reference) String() string { return fmt.Sprintf("%s [%s] %s", r.Package, r.Symbol, r.Text) }

// Break is a change of one line that breaks a promise.
type Break struct {
	File string // from the root of the module
	Func string // the function with the text: "Execute", "Pool.Execute"; "-": anywhere in the file
	Old  string // occurs once in the function
	New  string
}

func (b Break) String() string { return fmt.Sprintf("%s %s: %s => %s", b.File, b.Func, b.Old, b.New) }

// AllTests returns the tests of the promise, whether they were there before or not.
func (p Promise) AllTests() []string { return append(append([]string(nil), p.Tests...), p.Added...) }

// shown reports whether a planted bug or a break shows that a check of p can fail.
func (p Promise) shown() bool { return len(p.Bugs)+len(p.Breaks) > 0 }

// Parse reads a table.
func Parse(r io.Reader) (Table, error) {
	var t Table
	var errs []error
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		if err := t.line(n, lines.Text()); err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", n, err))
		}
	}
	if t.Package == "" {
		errs = append(errs, errors.New("want a line: package DIRECTORY"))
	}
	return t, errors.Join(append(errs, lines.Err())...)
}

func (t *Table) line(n int, text string) error {
	switch name, bracketed := strings.CutPrefix(text, "["); {
	case strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#"):
		return nil
	case t.Package == "":
		kind, dir, ok := strings.Cut(text, " ")
		if !ok || kind != "package" && kind != "pages" {
			return fmt.Errorf("%q, want: package DIRECTORY, or pages DIRECTORY", text)
		}
		t.Package, t.Pages = dir, kind == "pages"
		return nil
	case bracketed:
		name, ok := strings.CutSuffix(name, "]")
		if !ok || name == "" {
			return fmt.Errorf("%q, want: [SYMBOL]", text)
		}
		t.Symbols = append(t.Symbols, Symbol{Name: name, Line: n})
		return nil
	case len(t.Symbols) == 0:
		return fmt.Errorf("%q is of no symbol", text)
	}
	s := &t.Symbols[len(t.Symbols)-1]
	if !strings.HasPrefix(text, " ") {
		s.Promises = append(s.Promises, Promise{Text: text, Line: n})
		return nil
	}
	if len(s.Promises) == 0 {
		return fmt.Errorf("%q is of no promise", text)
	}
	return s.Promises[len(s.Promises)-1].evidence(t.Package, strings.TrimSpace(text))
}

// evidence adds one line "key: value" of a table about the package dir.
func (p *Promise) evidence(dir, text string) error {
	key, value, ok := strings.Cut(text, ": ")
	if !ok || strings.TrimSpace(value) == "" {
		return fmt.Errorf("%q, want KEY: VALUE", text)
	}
	switch key {
	case "test":
		p.Tests = append(p.Tests, strings.Split(value, ", ")...)
	case "added":
		p.Added = append(p.Added, strings.Split(value, ", ")...)
	case "bug":
		p.Bugs = append(p.Bugs, strings.Split(value, ", ")...)
	case "break":
		b, err := parseBreak(dir, value)
		p.Breaks = append(p.Breaks, b)
		return err
	case "see":
		r, err := parseReference(value)
		p.See = append(p.See, r)
		return err
	case "untestable":
		p.Untestable = value
	case "withdrawn":
		p.Withdrawn = value
	default:
		return fmt.Errorf("unknown key %q, want test, added, bug, break, see, untestable or withdrawn", key)
	}
	return nil
}

// parseBreak reads a break. A file without a directory is of the package dir.
func parseBreak(dir, text string) (b Break, err error) {
	place, change, ok := strings.Cut(text, ": ")
	from, to, arrow := strings.Cut(change, " =>")
	file, function, named := strings.Cut(place, " ")
	if !ok || !arrow || !named || from == "" {
		return b, fmt.Errorf("%q, want FILE FUNCTION: OLD => NEW", text)
	}
	if !strings.Contains(file, "/") {
		file = dir + "/" + file
	}
	return Break{File: file, Func: function, Old: from, New: strings.TrimPrefix(to, " ")}, nil
}

func parseReference(text string) (r Reference, err error) {
	dir, rest, ok := strings.Cut(text, " [")
	symbol, promise, closed := strings.Cut(rest, "] ")
	if !ok || !closed {
		return r, fmt.Errorf("%q, want PACKAGE [SYMBOL] PROMISE", text)
	}
	return Reference{Package: dir, Symbol: symbol, Text: promise}, nil
}

// Counts are how many promises a table has, by their evidence. Elsewhere counts those whose
// checks are in another table.
type Counts struct{ All, Checked, Added, Untestable, Withdrawn, Elsewhere int }

// Count counts the promises of t.
func (t Table) Count() (c Counts) {
	for _, s := range t.Symbols {
		for _, p := range s.Promises {
			c.All++
			switch {
			case p.Withdrawn != "":
				c.Withdrawn++
			case p.Untestable != "":
				c.Untestable++
			case len(p.Added) > 0:
				c.Added++
			case len(p.See) > 0 && !p.shown():
				c.Elsewhere++
			default:
				c.Checked++
			}
		}
	}
	return c
}

func (c Counts) String() string {
	text := fmt.Sprintf("%d promises: %d had a check, %d got one, %d withdrawn or corrected, %d cannot be tested", c.All, c.Checked, c.Added, c.Withdrawn, c.Untestable)
	if c.Elsewhere > 0 {
		text += fmt.Sprintf(", %d are checked in other tables", c.Elsewhere)
	}
	return text
}
