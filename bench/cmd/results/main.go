// Command results writes RESULTS.md, its plots, the README's table of comparisons and the figures in
// the headings of docs/performance.md from the raw files in testdata/bench, or, with -check, fails if
// they are not what those give.
//
//	go run ./bench/cmd/results
//	go run ./bench/cmd/results -check
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"eventide/bench/results"
	"eventide/internal/command"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run is main without the process. It returns the exit code: 1 if the page could
// not be written or is not current, 2 for usage.
func run(args []string, stderr io.Writer) int {
	f := flag.NewFlagSet("results", flag.ContinueOnError)
	raw := f.String("raw", "testdata/bench", "directory of the raw files")
	page := f.String("page", "RESULTS.md", "the page")
	readme := f.String("readme", "README.md", "the page with the table of comparisons")
	missed := f.String("missed", "docs/performance.md", "the page about missed targets, whose headings have figures")
	check := f.Bool("check", false, "compare instead of writing")
	if err := command.Parse(f, args, stderr, nil); err != nil {
		return command.Refuse(stderr, "results", err)
	}
	if err := do(*raw, *page, *readme, *missed, *check); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

func do(raw, page, readme, missed string, check bool) error {
	if check {
		return errors.Join(results.Check(raw, page), results.CheckReadme(raw, readme), results.CheckHeadings(raw, missed))
	}
	return errors.Join(results.Write(raw, page), results.WriteReadme(raw, readme), results.WriteHeadings(raw, missed))
}
