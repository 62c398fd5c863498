package exectest

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
)

// replay is the line to paste that runs the programs of the clause again: a command
// for a shell anywhere in the module if a test runs the kit, else a call.
func (c *config) replay(cl *clause) string {
	if c.t == nil {
		return fmt.Sprintf("exectest.Check(factory, exectest.Only(%q), exectest.Seed(%d))", cl.name, c.seed)
	}
	return goTestLine(c.t.Name())
}

// goTestLine is the command that runs one test of this binary again, built the same way.
// -count=1 keeps go test from answering with the result of an earlier run.
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

// shellQuoted is the text as one word of a POSIX shell.
func shellQuoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
