package docs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLayoutIsTrue: on docs/layout.md every path exists, every test is in the package that
// the page names, and every function in the file before it.
func TestLayoutIsTrue(t *testing.T) {
	if err := checkLayout(readPage(t, "docs/layout.md").text); err != nil {
		t.Error(err)
	}
}

// TestLayoutCanBeWrong spoils the page in each way.
func TestLayoutCanBeWrong(t *testing.T) {
	page := readPage(t, "docs/layout.md").text
	for _, c := range []struct{ old, new, want string }{
		{"`core/hooks.go`", "`core/hook.go`", "core/hook.go"},
		{"  gate/      ", "  gates/     ", "bench/gates"},
		{"`TestG23Drain` in `core/tcp`", "`TestG23Drained` in `core/tcp`", "core/tcp has no TestG23Drained"},
		{"`TestG23Drain` in `core/tcp`", "`TestG23Drain` in `core`", "core has no TestG23Drain"},
		{"`TestG23Drain` in `core/tcp`", "`TestG23Drain`", "TestG23Drain is in no package"},
		{"(`publishShutdown`)", "(`publishEnd`)", "core/shutdown.go has no publishEnd"},
		{"| hooks |", "| the weather |", "no row for hooks"},
	} {
		if !strings.Contains(page, c.old) {
			t.Errorf("the page does not contain %q, so nothing is spoilt", c.old)
		}
		if err := checkLayout(strings.Replace(page, c.old, c.new, 1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in place of %q: got %v, want %q", c.new, c.old, err, c.want)
		}
	}
}

// subjects are what the page must have a row for.
var subjects = []string{
	"quiet period", "deadline", "timer policy", "hooks", "a pool", "wakes the loop", "bounded queue", "a poller", "UDP", "channel option",
	"a guarantee", "strategy", "planted bug", "a benchmark", "tier of the gate", "a step of process",
}

var (
	codePath   = regexp.MustCompile("`([a-z][\\w./-]*/[\\w./-]*)`")
	testsIn    = regexp.MustCompile("`(Test\\w+)`(?: and `(Test\\w+)`)?(?: in `([\\w./-]+)`)?")
	functionOf = regexp.MustCompile("`([\\w./-]+\\.go)` \\(((?:`\\w+`(?:, )?)+)\\)")
	codeName   = regexp.MustCompile("`(\\w+)`")
	treeLine   = regexp.MustCompile(`^( *)([a-z]+(?:/[a-z]+)*/)  `)
)

func checkLayout(page string) error {
	var errs []error
	exists := func(path string) {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil && !strings.HasPrefix(path, "golang.org/") {
			errs = append(errs, err)
		}
	}
	for _, m := range codePath.FindAllStringSubmatch(page, -1) {
		exists(m[1])
	}
	for _, path := range tree(page) {
		exists(path)
	}
	for _, m := range testsIn.FindAllStringSubmatch(page, -1) {
		for _, name := range m[1:3] {
			if name != "" {
				errs = append(errs, hasTest(m[3], name))
			}
		}
	}
	for _, m := range functionOf.FindAllStringSubmatch(page, -1) {
		text, _ := os.ReadFile(filepath.Join(root, m[1]))
		for _, name := range codeName.FindAllStringSubmatch(m[2], -1) {
			if !regexp.MustCompile(`\b` + name[1] + `\b`).Match(text) {
				errs = append(errs, fmt.Errorf("%s has no %s", m[1], name[1]))
			}
		}
	}
	for _, subject := range subjects {
		if !regexp.MustCompile(`(?m)^\| [^|]*` + subject).MatchString(page) {
			errs = append(errs, fmt.Errorf("there is no row for %s", subject))
		}
	}
	return errors.Join(errs...)
}

// tree returns the paths of the directory tree.
func tree(page string) (paths []string) {
	var above []string
	for line := range strings.Lines(page) {
		if m := treeLine.FindStringSubmatch(line); m != nil {
			above = append(above[:len(m[1])/2], m[2])
			paths = append(paths, strings.Join(above, ""))
		}
	}
	return paths
}

func hasTest(dir, name string) error {
	if dir == "" {
		return fmt.Errorf("%s is in no package", name)
	}
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return nil
		}
	}
	return fmt.Errorf("%s has no %s", dir, name)
}
