package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// binary is one row of the table: the tests of a package.
type binary struct {
	Package string `json:"package"`
	Error   string `json:"error,omitempty"`   // of the build
	Exclude string `json:"exclude,omitempty"` // why it is not run as this command was asked
	dir     string // of the package, where its tests run
	path    string
}

// listPackages returns the packages that have tests.
func (s settings) listPackages(ctx context.Context) ([]binary, error) {
	const format = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}"
	out, err := s.output(ctx, append([]string{"go", "list", "-f", format}, s.packages...)...)
	if err != nil {
		return nil, err
	}
	var all []binary
	for line := range strings.Lines(out) {
		if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			all = append(all, binary{Package: name, dir: dir, path: filepath.Join(s.out, "conditions", "bin", fileName(name)+".test")})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no package of %q has tests", s.packages)
	}
	return all, nil
}

// output runs a command in the root and returns its output. The error has the command's
// standard error.
func (s settings) output(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = s.root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", args[0], args[1], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(out), err
}

// withoutDetector are the packages, with those below them, that the race detector is not
// for. The Makefile's target test leaves out the same.
var withoutDetector = map[string]string{
	"model":                  "the model has no goroutine, and the race detector makes it take minutes",
	"props/lanes/interleave": "its tests run binaries of the lane, one of which has the race detector",
}

// build builds the test binary of b and enters what went wrong.
func (s settings) build(ctx context.Context, b *binary) {
	args := []string{"go", "test", "-c", "-o", b.path}
	if s.race {
		for below, why := range withoutDetector {
			if strings.HasPrefix(b.Package+"/", "eventide/"+below+"/") {
				b.Exclude = why
				return
			}
		}
		args = append(args, "-race")
	}
	if _, err := s.output(ctx, append(args, b.Package)...); err != nil {
		b.Error = err.Error()
	} else if _, err := os.Stat(b.path); err != nil {
		b.Error = err.Error()
	}
}

// fileName makes a file's name of a package's.
func fileName(pkg string) string { return strings.ReplaceAll(pkg, "/", "_") }
