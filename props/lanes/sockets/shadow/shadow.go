// Package shadow builds programs in which core runs on a model of the kernel. The few files
// of core that make system calls get other imports: packages with the names and the calls of
// the real ones, which call the model. Everything else of core is compiled as it is.
package shadow

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"strconv"

	"eventide/props/internal/runner"
)

// Files are the files of core whose system calls the model answers, or whose clock it has, by their
// path from the root of the module.
var Files = []string{
	"core/tcp/sys_linux.go",
	"core/tcp/address.go",
	"core/tcp/connect_linux.go",
	"core/internal/epoll/blocking_linux.go",
	"core/internal/epoll/calls_linux.go",
	"core/internal/epoll/netpoll_linux.go",
	"core/internal/epoll/set_linux.go",
	"core/internal/epoll/spin_linux.go",
	"core/internal/netpoll/open_linux.go",
	"core/blocking/receipt_linux.go",
	"core/process/arrivals_linux.go",
	"core/process/run.go",
	"core/process/signals_unix.go",
	"core/process/systemd.go",
}

// calls is the import path of the packages with the calls of the model.
const calls = "eventide/props/lanes/sockets/calls/"

// exitCalls is the import path of the packages that replace imports of core/process.
const exitCalls = "eventide/props/lanes/exits/calls/"

// replaced maps a file of Files to its replaced imports, and each of them to its
// replacement. The entry "" is for the files without an entry.
var replaced = map[string]map[string]string{
	"core/tcp/address.go":               {"net": calls + "net"},
	"core/blocking/receipt_linux.go":    {"golang.org/x/sys/unix": calls + "unix"},
	"core/internal/epoll/spin_linux.go": {"time": calls + "time"},
	"core/process/arrivals_linux.go":    {"golang.org/x/sys/unix": calls + "unix"},
	"core/process/run.go":               {"os/signal": exitCalls + "signal"},
	"core/process/signals_unix.go":      {"os/signal": exitCalls + "signal"},
	"core/process/systemd.go":           {"net": exitCalls + "net", "os": exitCalls + "os"},
	"core/tcp/sys_linux.go":             {"golang.org/x/sys/unix": calls + "unix", "syscall": calls + "syscall"},
	"":                                  {"golang.org/x/sys/unix": calls + "unix", "syscall": calls + "syscall", "os": calls + "os"},
}

// Changed returns the texts of Files with the other imports, and the files of changed, which
// may be some of Files.
func Changed(root string, changed map[string]string) (map[string]string, error) {
	all := maps.Clone(changed)
	if all == nil {
		all = map[string]string{}
	}
	for _, name := range Files {
		text, ok := all[name]
		if !ok {
			data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
			if err != nil {
				return nil, err
			}
			text = string(data)
		}
		imports := replaced[name]
		if imports == nil {
			imports = replaced[""]
		}
		var err error
		if all[name], err = rewrite(name, text, imports); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// rewrite replaces imports. A file without any of them is an error.
func rewrite(name, text string, imports map[string]string) (string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ImportsOnly)
	if err != nil {
		return "", err
	}
	some := false
	for i := len(f.Imports) - 1; i >= 0; i-- { // from the end, so that offsets stay right
		spec := f.Imports[i].Path
		path, err := strconv.Unquote(spec.Value)
		if err != nil {
			return "", err
		}
		if to := imports[path]; to != "" {
			some = true
			from, end := fset.Position(spec.Pos()).Offset, fset.Position(spec.End()).Offset
			text = text[:from] + strconv.Quote(to) + text[end:]
		}
	}
	if !some {
		return "", fmt.Errorf("%s imports none of the replaced packages any more, remove it from Files of package shadow", name)
	}
	return text, nil
}

// Lane is a lane of generated programs: tests in a package of their own that run on the model.
type Lane struct {
	Name    string
	Package string // where the tests are, from the root of the module
	Test    string // runs programs: see package programs
}

// Lanes are the lanes that are built here.
var Lanes = []Lane{
	{"sockets", "props/lanes/sockets", "TestLane"},
	{"blocking", "props/lanes/sockets", "TestBlockingLane"},
	{"exits", "props/lanes/exits", "TestLane"},
}

// Named returns the lane of a name.
func Named(name string) (Lane, error) {
	for _, l := range Lanes {
		if l.Name == name {
			return l, nil
		}
	}
	return Lane{}, fmt.Errorf("shadow: there is no lane %q", name)
}

// Binary has the settings of Build.
type Binary struct {
	Root    string            // of the module
	Dir     string            // where the overlay and the binary go
	Changed map[string]string // files that replace those on disk, such as those of a mutant
	Race    bool
}

// Build builds the test binary of a lane on the model, and returns its path. A system call of
// core that the model lacks is an error of the compiler.
func (b Binary) Build(l Lane) (string, error) {
	changed, err := Changed(b.Root, b.Changed)
	if err != nil {
		return "", err
	}
	overlay, err := runner.Overlay(b.Root, filepath.Join(b.Dir, "overlay"), changed)
	if err != nil {
		return "", err
	}
	args := []string{"-tags", "shadow"}
	if b.Race {
		args = append(args, "-race")
	}
	return runner.Tests{
		Root: b.Root, Package: l.Package, Bin: filepath.Join(b.Dir, l.Name+".test"), Overlay: overlay, Args: args,
	}.Build()
}
