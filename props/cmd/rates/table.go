package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"
)

// Marks around the tables in the page.
const (
	begin = "<!-- rates: begin, written by go run ./props/cmd/rates -->"
	end   = "<!-- rates: end -->"
)

// write replaces what is between the marks.
func (k kept) write(page string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s: want the lines %s and %s", page, begin, end)
	}
	return os.WriteFile(page, []byte(before+begin+"\n\n"+k.tables()+"\n"+end+after), 0o644)
}

// tables are the tables of the page.
func (k kept) tables() string {
	var b strings.Builder
	caught, always := 0, 0
	for _, c := range k.Caught {
		caught += one(c.Caught > 0)
		always += one(c.Caught == c.Runs)
	}
	fmt.Fprintf(&b, "`%s` at commit %.10s with %s on %d processors: of %d mistakes %d were caught, and %d in each run of the kit.\n\n",
		k.Command, cmp.Or(k.Commit, "unknown"), k.Go, k.Processors, len(k.Caught), caught, always)
	b.WriteString("| Breaks | The executor | Modelled on | Caught |\n|---|---|---|---|\n")
	for _, c := range k.Caught {
		fmt.Fprintf(&b, "| %s | %s | %s | %d of %d |\n", c.Guarantee, c.Name, c.Source, c.Caught, c.Runs)
	}
	b.WriteString("\n| Correct executor | Runs | Failures |\n|---|---|---|\n")
	for _, r := range k.Right {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", r.Name, r.Runs, len(r.Failed))
	}
	return b.String()
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
