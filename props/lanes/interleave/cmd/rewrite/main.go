// Command rewrite writes the overlay of the interleave lane:
//
//	go run ./props/lanes/interleave/cmd/rewrite -o out/interleave
//	go build -overlay out/interleave/overlay.json ./props/lanes/interleave/cmd/lane
//
// Exit code 0: written; 1: something in core cannot be instrumented, with file and
// line; 2: usage.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eventide/internal/command"
	"eventide/props/lanes/interleave/rewrite"
	"eventide/props/mutant"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run is main without the process. It returns the exit code.
func run(args []string, stderr io.Writer) int {
	f := flag.NewFlagSet("rewrite", flag.ContinueOnError)
	root := f.String("root", ".", "root of the module")
	out := f.String("o", filepath.Join("out", "interleave"), "where the rewritten files and overlay.json go")
	planted := f.String("mutant", "", "file of a mutant to apply first")
	verbose := f.Bool("v", false, "list how many operations of each kind were instrumented")
	if err := command.Parse(f, args, stderr, nil); err != nil {
		return command.Refuse(stderr, "rewrite", err)
	}
	if err := write(*root, *out, *planted, *verbose); err != nil {
		fmt.Fprintln(stderr, "rewrite:", err)
		return 1
	}
	return 0
}

func write(root, out, planted string, verbose bool) error {
	m := rewrite.Module{Root: root}
	if planted != "" {
		p, err := find(planted)
		if err != nil {
			return err
		}
		if m.Changed, err = p.Apply(root); err != nil {
			return err
		}
	}
	o, err := m.Rewrite()
	if err != nil {
		return err
	}
	path, err := o.Write(root, out)
	if err != nil {
		return err
	}
	total := o.Total()
	fmt.Printf("%s: %d operations of core instrumented\n", path, total.Total())
	if verbose {
		var kinds []string
		for k := range total {
			kinds = append(kinds, k)
		}
		slices.Sort(kinds)
		for _, k := range kinds {
			fmt.Printf("%6d %s\n", total[k], k)
		}
	}
	return nil
}

func find(path string) (mutant.Mutant, error) {
	all, err := mutant.Load(filepath.Dir(path))
	if err != nil {
		return mutant.Mutant{}, err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".mutant")
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
	}
	return mutant.Mutant{}, fmt.Errorf("-mutant is %q, and %s has no such file", path, filepath.Dir(path))
}
