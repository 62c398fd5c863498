package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"eventide/props/lanes/interleave/build"
)

// speeds builds the lane, and its programs without the overlay, plain and with the race
// detector, and lets each of these four binaries measure itself.
func (s settings) speeds() error {
	for _, race := range []bool{false, true} {
		l := build.Lane{Root: s.root, Dir: filepath.Join(s.out, fmt.Sprintf("speed-race=%v", race)), Race: race}
		bin, err := l.Build()
		if err != nil {
			return err
		}
		free, err := l.BuildFree()
		if err != nil {
			return err
		}
		for _, bin := range []string{bin, free} {
			cmd := exec.Command(bin, "-bench", "-strategy", "pct3", "-budget", "4s")
			cmd.Stdout = os.Stdout // stderr has the report of the planted race
			cmd.Env = append(os.Environ(), "GORACE=exitcode=0")
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w", bin, err)
			}
		}
	}
	return nil
}
