// Package overlay builds programs in which system calls of core go through package faults.
package overlay

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"eventide/props/internal/runner"
)

// faults is the import path of the package that is called instead.
const faults = "eventide/props/faults"

// alias is its name in the changed files: core/tcp has a type faults.
const alias = "injected"

// calls has the calls of each file that are replaced by those of the same name in package faults.
var calls = map[string][]string{
	"core/internal/epoll/blocking_linux.go": {"unix.Write"},
	"core/internal/epoll/calls_linux.go":    {"syscall.RawSyscall6", "unix.EpollCreate1", "unix.EpollWait", "unix.Eventfd", "unix.TimerfdCreate"},
	"core/tcp/connect_linux.go":             {"unix.Connect"},
	"core/tcp/sys_linux.go":                 {"syscall.RawSyscall", "syscall.RawSyscall6", "unix.Accept4", "unix.Socket"},
}

// Write writes the changed files of the module at root to dir, and returns the path of the file
// for go build -overlay.
func Write(root, dir string) (string, error) {
	changed := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		if changed[name], err = replace(name, string(data), calls[name]); err != nil {
			return "", err
		}
	}
	return runner.Overlay(root, dir, changed)
}

// Build builds the command of the module at root, by its directory, with the faults, and returns
// the path of the program: dir/name.
func Build(root, dir, command, name string) (string, error) {
	file, err := Write(root, filepath.Join(dir, "overlay"))
	if err != nil {
		return "", err
	}
	bin, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		return "", err
	}
	return bin, runner.Go(root, "build", "-overlay", file, "-o", bin, "./"+command)
}

// replace replaces the package of the wanted selectors. A selector that the file does not have is
// an error: the call is elsewhere now, and would have no faults.
func replace(name, text string, wanted []string) (string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, 0)
	if err != nil {
		return "", err
	}
	seen := map[string]bool{}
	var at []int // of the package names
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := s.X.(*ast.Ident); ok && slices.Contains(wanted, pkg.Name+"."+s.Sel.Name) {
			seen[pkg.Name+"."+s.Sel.Name] = true
			at = append(at, fset.Position(pkg.Pos()).Offset)
		}
		return true
	})
	for _, call := range wanted {
		if !seen[call] {
			return "", fmt.Errorf("%s does not call %s any more, change the calls of package overlay", name, call)
		}
	}
	slices.Sort(at)
	for _, from := range slices.Backward(at) {
		dot := strings.IndexByte(text[from:], '.')
		text = text[:from] + alias + text[from+dot:]
	}
	end := fset.Position(f.Name.End()).Offset
	return text[:end] + "\n\nimport " + alias + " " + strconv.Quote(faults) + text[end:] + "\nfunc init() { " + alias + ".Install() }\n", nil
}
