// Command demo shows in under a minute what the repository is about: a channel pool that loses
// accepted tasks at a shutdown, and core, which loses none; a planted bug that is caught and
// minimised; and a bug of a small program that the command interleave finds.
//
//	go run ./props/cmd/demo
//
// It runs from the root of the repository. What it prints was measured or found by this run.
// The exit code is 1 if a part does not show what it is for, and 2 for usage. Output on a
// terminal has colours, unless NO_COLOR is set.
//
// It took 3 s of processor time with a filled build cache. With an empty one it took 107 s,
// most of them for compilers: just under a minute on two processors with nothing else to do.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"eventide/internal/command"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// part is one thing to see. Its show returns the lines, or why there is nothing to see.
type part struct {
	title string
	show  func(root string) ([]string, error)
}

var parts = []part{
	{"Accepted tasks at a shutdown", losses},
	{"A bug planted in core", planted},
	{"A bug in a small program, under chosen schedules", scheduled},
}

// run is main without the process.
func run(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("demo", flag.ContinueOnError)
	root := f.String("root", ".", "root of the repository")
	if err := command.Parse(f, args, stderr, nil); err != nil {
		return command.Refuse(stderr, "demo", err)
	}
	return show(*root, parts, stdout, coloured(stdout))
}

// show runs the parts and returns the exit code. They run at the same time, because two of
// them wait for compilers, and are printed in order.
func show(root string, parts []part, stdout io.Writer, colour bool) int {
	type result struct {
		lines []string
		err   error
	}
	results := make([]chan result, len(parts))
	for i, p := range parts {
		results[i] = make(chan result, 1)
		go func() {
			lines, err := p.show(root)
			results[i] <- result{lines, err}
		}()
	}
	code := 0
	for i, p := range parts {
		fmt.Fprintf(stdout, "%s\n", paint(fmt.Sprintf("%d  %s", i+1, p.title), bold, colour))
		r := <-results[i]
		for _, line := range r.lines {
			fmt.Fprintf(stdout, "   %s\n", emphasise(line, colour))
		}
		if r.err != nil {
			code = 1
			fmt.Fprintf(stdout, "   %s\n", paint("NOT SHOWN: "+strings.ReplaceAll(r.err.Error(), "\n", "\n   "), red, colour))
		}
		fmt.Fprintln(stdout)
	}
	return code
}

const (
	bold = "\x1b[1m"
	red  = "\x1b[31m"
	off  = "\x1b[0m"
)

// strong marks the words of a line that matter. It is no text.
const strong = "\x00"

// coloured reports whether w is a terminal on which colours are wanted.
func coloured(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func paint(text, colour string, on bool) string {
	if !on {
		return text
	}
	return colour + text + off
}

// emphasise paints what stands between two marks.
func emphasise(line string, colour bool) string {
	var b strings.Builder
	for i, piece := range strings.Split(line, strong) {
		if i%2 == 1 {
			piece = paint(piece, red, colour)
		}
		b.WriteString(piece)
	}
	return b.String()
}
