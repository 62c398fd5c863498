package exectest

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// replay returns the line that runs the programs of the clause again and judges the
// guarantee by them: a shell command for any directory of the module if a test runs the
// kit, otherwise the call of Check with its options.
func (c *config) replay(cl *clause, guarantee string) string {
	if c.t == nil {
		only := strconv.Quote(guarantee)
		if guarantee != cl.name {
			only += ", " + strconv.Quote(cl.name)
		}
		if clauseOf(guarantee) == nil {
			only = "" // Only does not accept it
		}
		args := append([]string{"factory", "exectest.Only(" + only + ")", fmt.Sprintf("exectest.Seed(%d)", c.seed)}, c.given...)
		if only == "" {
			args = slices.Delete(args, 1, 2)
		}
		return "exectest.Check(" + strings.Join(args, ", ") + ")"
	}
	return goTestLine(c.t.Name())
}

// goTestLine returns the command that runs one test of this binary again, built in the
// same way. -count=1 prevents a cached result.
func goTestLine(test string) string {
	line := "go test -count=1"
	pkg := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-race" || s.Key == "-tags" {
				line += " " + s.Key + "=" + s.Value
			}
		}
		pkg = strings.TrimSuffix(info.Path, ".test")
	}
	var parts []string
	for part := range strings.SplitSeq(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	line += " -run " + shellQuoted(strings.Join(parts, "/"))
	if pkg != "" && pkg != "command-line-arguments" { // a test given by its files has no package
		line += " " + pkg
	}
	return line
}

// shellQuoted returns the text as one word of a POSIX shell.
func shellQuoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
