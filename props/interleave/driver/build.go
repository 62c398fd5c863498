package driver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A builder compiles test binaries with the overlay.
type builder struct {
	tool  *toolchain
	opts  *Options
	hash  string   // of the overlay
	flags []string // of go test -c, for the overlay
	dir   string   // of the binaries
}

// errBuild is wrapped by the error of a package that does not compile.
var errBuild = errors.New("build failed")

// compile compiles the test binary of p. The binary stays in the cache. The go command
// does not write it again as long as its sources and flags are the same.
func (b *builder) compile(p *pkg) error {
	key := sha256.Sum256([]byte(strings.Join(append([]string{p.ImportPath, p.Dir, b.hash, b.tool.Version}, b.args()...), "\x00")))
	dir := filepath.Join(b.dir, fmt.Sprintf("%x", key[:8]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return inputError("the cache cannot be written: %w; set INTERLEAVE_CACHE", err)
	}
	unlock, err := lockFile(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	kept := filepath.Join(dir, "test.bin")
	cmd := b.tool.command(append(b.args(), "-o", kept, p.ImportPath)...)
	cmd.Env = b.env()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s", errBuild, strings.TrimRight(out.String(), "\n"))
	}
	p.bin = kept
	use(dir)
	return nil
}

func (b *builder) args() []string {
	args := append([]string{"test", "-c", "-vet=off"}, b.flags...)
	return append(args, b.opts.listFlags()...)
}

// env turns cgo off, so that package net resolves names in Go. The race detector
// cannot be linked without it.
func (b *builder) env() []string {
	if b.opts.Race {
		return b.tool.env
	}
	return append(append([]string{}, b.tool.env...), "CGO_ENABLED=0")
}

// lockFile waits for the lock that makes one process at a time write a binary.
func lockFile(name string) (func(), error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, inputError("the cache cannot be written: %w; set INTERLEAVE_CACHE", err)
	}
	if err := lockExclusive(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

var testName = regexp.MustCompile(`^(Test|Example|Fuzz|Benchmark)\w*$`)

// list fills in the tests of p that -run and -skip select, and returns the names of
// selected examples, fuzz tests and benchmarks, which do not run under control.
func (b *builder) list(p *pkg, run, skip runPattern) (others []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.opts.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.bin, append([]string{"-test.list=."}, b.opts.Args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.Dir, controlledEnv(), time.Second
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, inputError("%s: the tests cannot be listed: %w\n%s", p.ImportPath, err, bytes.TrimSpace(errs.Bytes()))
	}
	seen := map[string]bool{}                      // a TestMain may run the tests twice
	for name := range strings.Lines(string(out)) { // TestMain may print other lines in between
		if name = strings.TrimSpace(name); !testName.MatchString(name) || seen[name] {
			continue
		}
		seen[name] = true
		if strings.HasPrefix(name, "Test") {
			p.all = append(p.all, name)
		}
		if skip.skips(name) {
			continue
		}
		pattern := run.only(name)
		switch {
		case pattern == "":
		case strings.HasPrefix(name, "Test"):
			p.tests = append(p.tests, test{name, pattern})
		default:
			others = append(others, name)
		}
	}
	if len(seen) == 0 && p.declaresTests() {
		return nil, errEnded
	}
	return others, nil
}

// errEnded is the error of a package whose tests never run.
var errEnded = errors.New("TestMain ended the process before it ran a test")

// declaresTests says whether the sources of p have a test.
func (p *pkg) declaresTests() bool {
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			continue // it has been compiled, so the error is no matter of syntax
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name != "TestMain" && testName.MatchString(f.Name.Name) && len(f.Type.Params.List) == 1 {
				return true
			}
		}
	}
	return false
}
