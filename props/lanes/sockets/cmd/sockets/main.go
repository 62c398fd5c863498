// Command sockets runs the generated programs of a lane in virtual time: of connections on core/tcp
// or on core/blocking, over a model of the kernel's sockets, or of exits of core/process. See
// packages sockets and exits. Its exit code is 1 if a program violated something, and 2 if none could
// be run.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"eventide/props/lane"
	"eventide/props/lanes/programs"
	"eventide/props/lanes/sockets/shadow"
)

func main() { os.Exit(run()) }

func run() int {
	name := flag.String("lane", "sockets", "which programs: sockets (core/tcp), blocking (core/blocking) or exits (core/process)")
	budget := flag.Duration("budget", 10*time.Second, "how long programs are run")
	seed := flag.Uint64("seed", 7, "base of the seeds")
	race := flag.Bool("race", false, "with the race detector")
	keep := flag.String("o", "", "directory for the binary, which is kept (default: a temporary one)")
	cases := flag.String("cases", "", "directory that gets a file for each program that violated something")
	repeat := flag.String("case", "", "instead, run the program of such a file")
	flag.Parse()
	dir := *keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "sockets"); err != nil {
			return fail(err)
		}
		defer os.RemoveAll(dir)
	}
	which, err := shadow.Named(*name)
	if err != nil {
		return fail(err)
	}
	bin, err := shadow.Binary{Root: ".", Dir: dir, Race: *race}.Build(which)
	if err != nil {
		return fail(err)
	}
	the := lane.Run{Bin: bin, Lane: which.Test, Budget: *budget, Seed: *seed, Cases: *cases}
	if *repeat != "" {
		path, err := filepath.Abs(*repeat) // the program runs in another directory
		if err != nil {
			return fail(err)
		}
		the.Lane, the.Env = "TestCase", []string{programs.CaseVariable + "=" + path}
	}
	r, err := the.Do(".")
	if err != nil {
		return fail(err)
	}
	fmt.Printf("%d programs in %.1f s\n", r.Runs, r.Seconds)
	if r.Ending == lane.Ended && len(r.Failed) == 0 {
		return 0
	}
	for _, text := range r.Failed {
		fmt.Println(text)
	}
	if r.Ending != lane.Ended || *race {
		fmt.Println(r.Output)
	}
	return 1
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "sockets:", err)
	return 2
}
