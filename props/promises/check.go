package promises

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Check compares a table with the sources of the module at root, and with all tables. It
// returns an error for
//
//   - each symbol with a doc comment that is not in the table, or twice;
//   - each page that is not in a table of pages, and each heading of a page that promises
//     something;
//   - each symbol, test, example and planted bug of the table that does not exist;
//   - each break whose text is not in the function exactly once;
//   - each promise without evidence, and each reference to a promise that does not exist or
//     has no evidence of its own.
func Check(root string, t Table, all []Table) error {
	known, err := t.symbols(root)
	if err != nil {
		return err
	}
	bugs, err := plantedBugs(root)
	if err != nil {
		return err
	}
	c := checker{root: root, table: t, all: all, bugs: bugs, tests: map[string]map[string]bool{}}
	listed := map[string]bool{}
	for _, s := range t.Symbols {
		if _, ok := known[s.Name]; !ok {
			c.add(s.Line, "%s has no %s", t.Package, s.Name)
		}
		if listed[s.Name] {
			c.add(s.Line, "%s is listed twice", s.Name)
		}
		listed[s.Name] = true
		for _, p := range s.Promises {
			c.promise(p)
		}
	}
	for _, name := range known.documented() {
		if !listed[name] {
			c.errs = append(c.errs, fmt.Errorf("%s of %s is not in the table", name, t.Package))
		}
	}
	return errors.Join(c.errs...)
}

type checker struct {
	root  string
	table Table
	all   []Table
	bugs  map[string]bool
	tests map[string]map[string]bool // by directory
	errs  []error
}

func (c *checker) add(line int, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...)))
}

func (c *checker) promise(p Promise) {
	for _, name := range p.AllTests() {
		if err := c.test(name); err != nil {
			c.add(p.Line, "%v", err)
		}
	}
	for _, name := range p.Bugs {
		if !c.bugs[name] {
			c.add(p.Line, "there is no planted bug %s", name)
		}
	}
	for _, b := range p.Breaks {
		if _, err := b.Apply(c.root); err != nil {
			c.add(p.Line, "%v", err)
		}
	}
	for _, r := range p.See {
		c.reference(p.Line, r)
	}
	switch {
	case p.Untestable != "" || p.Withdrawn != "":
	case !p.shown() && len(p.See) == 0:
		c.add(p.Line, "%q has no planted bug and no break that shows that a check can fail", p.Text)
	case len(p.Breaks) > 0 && len(p.AllTests()) == 0:
		c.add(p.Line, "%q has a break, and no test that sees it", p.Text)
	}
}

// reference adds an error unless r is a promise with evidence of its own.
func (c *checker) reference(line int, r Reference) {
	for _, t := range c.all {
		for _, s := range t.Symbols {
			for _, p := range s.Promises {
				if r != (Reference{t.Package, s.Name, p.Text}) {
					continue
				}
				if !p.shown() {
					c.add(line, "%v has no check of its own", r)
				}
				return
			}
		}
	}
	c.add(line, "there is no promise %v", r)
}

// test returns an error if there is no test name.
func (c *checker) test(name string) error {
	dir, test := c.table.Place(name)
	if c.tests[dir] == nil {
		names, err := testsOf(filepath.Join(c.root, dir))
		if err != nil {
			return err
		}
		c.tests[dir] = names
	}
	if !c.tests[dir][test] {
		return fmt.Errorf("%s has no test %s", dir, test)
	}
	return nil
}

// Place splits the name of a test into the directory of its package and its name there.
func (t Table) Place(name string) (dir, test string) {
	if i := strings.LastIndex(name, "."); i >= 0 {
		return name[:i], name[i+1:]
	}
	return t.Package, name
}

// plantedBugs returns the names of all planted bugs.
func plantedBugs(root string) (map[string]bool, error) {
	var all []string
	for _, pattern := range []string{"testdata/mutants/*.mutant", "testdata/mutants/*/*.mutant", "testdata/interleave/mutants/*.mutant"} {
		some, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	names := map[string]bool{}
	for _, path := range all {
		names[strings.TrimSuffix(filepath.Base(path), ".mutant")] = true
	}
	return names, nil
}

// Load reads the tables of testdata/promises, in the order of their names.
func Load(root string) ([]Table, error) {
	paths, err := filepath.Glob(filepath.Join(root, "testdata", "promises", "*.txt"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("testdata/promises has no table")
	}
	slices.Sort(paths)
	var tables []Table
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		t, err := Parse(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		tables = append(tables, t)
	}
	return tables, nil
}
