package props

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"eventide/props/internal/runner"
)

// caseVersion is the version of the format of case files.
const caseVersion = 2

// Case is a program that failed once, in a format that does not depend on the generator:
// rapid's own files become useless when the generator changes.
type Case struct {
	Version   int           `json:"version"`
	Guarantee string        `json:"guarantee"` // the guarantee that it broke
	Text      string        `json:"text"`      // the violation
	Program   Program       `json:"program"`
	Group     *GroupProgram `json:"group,omitempty"` // instead of Program

	Invocation *Invocation `json:"invocation,omitempty"` // instead of Program
}

// LoadCase reads a case file of this version or of version 1. An error names the file
// and what was expected.
func LoadCase(path string) (Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Case{}, err
	}
	if data, err = upgraded(data); err != nil {
		return Case{}, fmt.Errorf("props: %s: %w", path, err)
	}
	c, err := runner.DecodeCase(path, data, caseVersion, func(c Case) int { return c.Version })
	if err != nil {
		return Case{}, fmt.Errorf("props: %w", err)
	}
	return c, nil
}

// Save writes the case to dir, under a name made of the guarantee and a hash of
// the program, and returns the path.
func (c Case) Save(dir string) (string, error) {
	c.Version = caseVersion
	key := c
	key.Text = "" // it differs with the times of a run
	return runner.WriteCase(dir, c.Guarantee, ".case", c, key)
}

// plainWord is a text that needs no quotes in a shell.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// ShellWord returns the text as one word of a POSIX shell: the path of a case in a
// command may have a space.
func ShellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
