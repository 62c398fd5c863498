package driver

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A pkg is a package under test.
type pkg struct {
	ImportPath string
	Dir        string
	Name       string
	Root       string // of the module

	GoFiles, CgoFiles          []string
	TestGoFiles, XTestGoFiles  []string
	Standard, DepOnly          bool
	ForTest                    string
	Module                     *struct{ Path, Dir string }
	Error                      *struct{ Err string }
	DepsErrors                 []*struct{ Err string }
	IgnoredGoFiles             []string
	TestEmbedFiles, EmbedFiles []string

	content string // hash of the binary and testdata, see contentHash
	bin     string // compiled test binary
	tests   []test
	all     []string // names of all its tests
}

// A test is one top-level test function.
type test struct {
	Name    string
	Pattern string // for -test.run: the test and the wanted subtests
}

// listFlags are the build flags that go list and go test -c share.
func (o *Options) listFlags() []string {
	flags := append([]string{}, o.Build...)
	if o.Race {
		flags = append(flags, "-race")
	}
	tags := buildTag
	if o.Tags != "" {
		tags = o.Tags + "," + buildTag
	}
	return append(flags, "-tags="+tags)
}

// buildTag is set in each controlled build.
const buildTag = "interleave"

// plan returns the packages that the patterns match. A package without tests is
// returned too, with no test files.
func plan(tool *toolchain, o *Options) ([]*pkg, error) {
	args := append([]string{"list", "-e", "-json"}, o.listFlags()...)
	out, err := tool.run(append(append(args, "--"), o.Patterns...)...)
	if err != nil {
		return nil, inputError("%w", err)
	}
	all, err := decodePackages(out)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		switch {
		case p.Error != nil:
			return nil, inputError("%s: %s", p.ImportPath, strings.TrimSpace(p.Error.Err))
		case p.Standard:
			return nil, inputError("%s: a package of the standard library is part of the controlled runtime", p.ImportPath)
		}
	}
	if len(all) == 0 {
		return nil, inputError("no packages match %s", strings.Join(o.Patterns, " "))
	}
	return all, nil
}

func decodePackages(out []byte) ([]*pkg, error) {
	var all []*pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &pkg{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Module != nil {
			p.Root = p.Module.Dir
		}
		all = append(all, p)
	}
}

// errCgo is wrapped by the error of a package that needs C.
var errCgo = errors.New("cgo is not supported")

// refuseCgo returns an error that names the packages among the dependencies of p and
// its tests that contain C. A goroutine in C is out of the scheduler's reach.
func refuseCgo(tool *toolchain, o *Options, p *pkg) error {
	args := append([]string{"list", "-e", "-deps", "-test", "-f", "{{if not .Standard}}{{if .CgoFiles}}{{.ImportPath}}{{end}}{{end}}"}, o.listFlags()...)
	out, err := tool.run(append(args, "--", p.ImportPath)...)
	if err != nil {
		return inputError("%w", err)
	}
	seen := map[string]bool{}
	var names []string
	for _, name := range strings.Fields(string(out)) {
		if name, _, _ = strings.Cut(name, " "); !seen[name] && !strings.HasPrefix(name, "[") {
			seen[name] = true
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return inputError("%s: %w, and is used by %s; CGO_ENABLED=0 builds without cgo if the packages do not need it", p.ImportPath, errCgo, strings.Join(names, ", "))
}

func (p *pkg) hasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// sourceHash is the hash of the package's own source files, tests included.
func (p *pkg) sourceHash() (string, error) {
	h := sha256.New()
	for _, list := range [][]string{p.GoFiles, p.TestGoFiles, p.XTestGoFiles} {
		for _, name := range list {
			b, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %d\n", name, len(b))
			h.Write(b)
		}
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil)[:12]), nil
}
