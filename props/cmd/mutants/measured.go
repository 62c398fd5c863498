package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// measured are the packages whose mechanical mutants -auto draws.
var measured = []string{
	"core", "core/tcp", "core/blocking", "core/process", "core/tracked", "core/frame", "core/watch",
	"core/internal/epoll", "core/internal/netpoll", "core/internal/poll", "core/internal/tasks", "core/internal/transport",
}

// unmeasured are the packages below core whose mechanical mutants -auto does not draw, and
// why.
var unmeasured = map[string]string{
	"core/internal/coretest":           "helpers of tests",
	"core/internal/coretest/underload": "helpers of tests",
	"core/blocking/examples/lines":     "an example of the documentation",
	"core/pollertest":                  "it is a check: what looks for bugs in it are the planted bugs of testdata/mutants/checks",
	"core/tcp/examples/closing":        "an example of the documentation",
	"core/tcp/examples/echo":           "an example of the documentation",
	"core/tcp/examples/failover":       "an example of the documentation",
	"core/tcp/examples/lengths":        "an example of the documentation",
	"core/tcp/examples/lines":          "an example of the documentation",
	"core/tcp/tcptest":                 "helpers of tests: TestSameAsASocket compares them with the kernel",
	"core/tcp/internal/echobench":      "a benchmark",
}

// goPackage is what the go command says of a package of the module.
type goPackage struct {
	ImportPath                               string
	Deps, GoFiles, TestGoFiles, XTestGoFiles []string
}

// name is the directory of the package, from the root of the module.
func (p goPackage) name() string { return strings.TrimPrefix(p.ImportPath, modulePath) }

const modulePath = "eventide/"

// coreTree lists the packages of the module below core.
func coreTree(root string) ([]goPackage, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Deps,GoFiles,TestGoFiles,XTestGoFiles", "./core/...")
	cmd.Dir = root
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list ./core/...: %w\n%s", err, &complaint)
	}
	var all []goPackage
	for d := json.NewDecoder(&out); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list ./core/...: %w", err)
		}
		all = append(all, p)
	}
}

// packagesFor are those whose tests look for a mutant of pkg: its own first, and then the
// measured ones, and the kit for pollers, that are built with it.
func packagesFor(pkg string, tree []goPackage) []string {
	var own, others []string
	for _, p := range tree {
		switch {
		case len(p.TestGoFiles)+len(p.XTestGoFiles) == 0:
		case p.name() == pkg:
			own = append(own, pkg)
		case !slices.Contains(measured, p.name()) && p.name() != "core/pollertest":
		case slices.Contains(p.Deps, path.Join(modulePath, pkg)):
			others = append(others, p.name())
		}
	}
	return append(own, others...)
}
