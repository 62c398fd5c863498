package stress

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// module is the prefix of our own packages.
const module = "eventide"

// pkg is what `go list -json` says of a package, as far as layers need it. Imports
// are those of its non-test files; Deps all they lead to.
type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

// layer is a rule: what the packages below path, itself included, must not reach. Of two
// layers that a package is in, the one with the longer path holds.
type layer struct {
	path  string
	allow func(dep string, standard bool) bool
	why   string
}

func layers() []layer {
	return []layer{
		{"core", func(dep string, standard bool) bool {
			return standard || within(dep, module+"/core") || within(dep, module+"/internal/vocabulary") || within(dep, "golang.org/x/sys") || within(dep, "github.com/petermattis/goid")
		}, "core depends on the standard library, the vocabulary, golang.org/x/sys and goid alone"},
		{"core/internal/tasks", func(dep string, standard bool) bool { return standard || within(dep, module+"/core/internal/tasks") }, "the task queue depends on the standard library alone"},
		{"core/internal/poll", func(dep string, standard bool) bool { return standard || within(dep, module+"/core/internal/poll") }, "the words of pollers depend on the standard library alone"},
		{"core/internal/epoll", func(dep string, standard bool) bool {
			return standard || within(dep, module+"/core/internal/epoll") || within(dep, module+"/core/internal/poll") || within(dep, "golang.org/x/sys")
		}, "the epoll pollers depend on the standard library, golang.org/x/sys and core/internal/poll alone"},
		{"core/internal/transport", func(dep string, standard bool) bool {
			return standard || within(dep, module+"/core/internal/transport")
		}, "what transports share depends on the standard library alone"},
		{"core/internal/netpoll", func(dep string, standard bool) bool {
			return standard || within(dep, module+"/core/internal/netpoll") || within(dep, "golang.org/x/sys")
		}, "the check of Go's poller depends on the standard library and golang.org/x/sys alone"},
		{"core/internal/coretest", func(dep string, standard bool) bool {
			return standard || within(dep, module+"/core") || within(dep, module+"/internal/vocabulary") || within(dep, "golang.org/x/sys") || within(dep, "github.com/petermattis/goid") || within(dep, "go.uber.org/goleak")
		}, "the helpers of core's tests depend on what core depends on, and goleak, alone"},
		{"internal/vocabulary", func(dep string, standard bool) bool { return standard || within(dep, module+"/internal/vocabulary") }, "the vocabulary depends on the standard library alone"},
		{"model", func(dep string, standard bool) bool {
			return standard || within(dep, module+"/model") || within(dep, module+"/internal/vocabulary")
		}, "model depends on the standard library and the vocabulary alone"},
		{"model/cmd", func(dep string, standard bool) bool {
			return standard || within(dep, module+"/model") || within(dep, module+"/internal/vocabulary") || within(dep, module+"/internal/command")
		}, "the model's command depends on the standard library, the vocabulary, the model and internal/command alone"},
		{"internal/command", func(dep string, standard bool) bool { return standard || within(dep, module+"/internal/command") }, "internal/command depends on the standard library alone"},
		{"internal/timeline", func(dep string, standard bool) bool { return standard || within(dep, module+"/internal/timeline") }, "a timeline depends on the standard library alone"},
		{"internal/contract", func(dep string, standard bool) bool { return standard || within(dep, module+"/internal/contract") }, "everything may import the contract, so it depends on the standard library alone"},
		{"props/internal/runner", func(dep string, standard bool) bool { return standard || within(dep, module+"/props/internal/runner") }, "what starts programs knows none of them, and depends on the standard library alone"},
		{"props/history", without("core", "model"), "the predicates judge any executor"},
		{"props/exectest", without("core", "model"), "the kit judges any executor"},
		{"props/draintest", without("core", "model"), "the kit judges any server"},
		{"props/draintest/subjects", without("model"), "its subjects are servers on core"},
		{"bench", without("model"), "bench measures core, not the model"},
	}
}

// within reports whether path is dir or below it.
func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// without allows everything but some of our own directories.
func without(dirs ...string) func(string, bool) bool {
	return func(dep string, _ bool) bool {
		return !slices.ContainsFunc(dirs, func(dir string) bool { return within(dep, module+"/"+dir) })
	}
}

// ends are the directories that nothing outside of them may reach but tests.
var ends = []string{"bench", "stress", "core/internal/coretest"}

// mayTest are the directories whose non-test files may import testing: the
// properties and the public kit run under it, bench counts allocations with it in a
// command, and only tests import coretest and tcptest.
var mayTest = []string{"props", "bench", "core/internal/coretest", "core/tcp/tcptest"}

// checkLayers returns every violation, joined.
func checkLayers(pkgs []pkg) error {
	standard := make(map[string]bool)
	for _, p := range pkgs {
		standard[p.ImportPath] = p.Standard
	}
	var errs []error
	checked := make(map[string]int)
	for _, p := range pkgs {
		if !within(p.ImportPath, module) {
			continue
		}
		for _, l := range layers() {
			if !holds(l, p.ImportPath) {
				continue
			}
			checked[l.path]++
			for _, dep := range p.Deps {
				if !l.allow(dep, standard[dep]) {
					errs = append(errs, fmt.Errorf("%s reaches %s: %s", p.ImportPath, dep, l.why))
				}
			}
		}
		errs = append(errs, checkEnds(p)...)
		errs = append(errs, checkTesting(p)...)
	}
	for _, l := range layers() {
		if checked[l.path] == 0 {
			errs = append(errs, fmt.Errorf("no package in %s was listed: nothing was checked", l.path))
		}
	}
	return errors.Join(errs...)
}

// holds reports whether the package is in l and in no layer with a longer path.
func holds(l layer, importPath string) bool {
	return within(importPath, module+"/"+l.path) && !slices.ContainsFunc(layers(), func(other layer) bool {
		return len(other.path) > len(l.path) && within(importPath, module+"/"+other.path)
	})
}

func checkEnds(p pkg) (errs []error) {
	for _, end := range ends {
		dir := module + "/" + end
		if within(p.ImportPath, dir) {
			continue
		}
		for _, dep := range p.Deps {
			if within(dep, dir) {
				errs = append(errs, fmt.Errorf("%s reaches %s: nothing imports %s", p.ImportPath, dep, end))
			}
		}
	}
	return errs
}

// checkTesting looks at direct imports: what testing does to a program is up to
// those who are allowed to import it.
func checkTesting(p pkg) (errs []error) {
	if slices.ContainsFunc(mayTest, func(dir string) bool { return within(p.ImportPath, module+"/"+dir) }) {
		return nil
	}
	for _, imported := range p.Imports {
		if within(imported, "testing") {
			errs = append(errs, fmt.Errorf("%s imports %s outside of its tests", p.ImportPath, imported))
		}
	}
	return errs
}

// TestLayering asks the go command what imports what in this module. Nested
// modules and tests are not looked at.
func TestLayering(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", module+"/...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.String())
	}
	pkgs, err := decode(strings.NewReader(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	if err := checkLayers(pkgs); err != nil {
		t.Error(err)
	}
}

func decode(r io.Reader) (pkgs []pkg, err error) {
	for d := json.NewDecoder(r); ; {
		var p pkg
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return pkgs, nil
		case err != nil:
			return nil, err
		}
		pkgs = append(pkgs, p)
	}
}

// TestLayeringFails plants one violation of each rule.
func TestLayeringFails(t *testing.T) {
	const goid, sys = "github.com/petermattis/goid", "golang.org/x/sys/unix"
	good := func() []pkg {
		return []pkg{
			{ImportPath: "sync", Standard: true},
			{ImportPath: "testing", Standard: true},
			{ImportPath: goid},
			{ImportPath: sys},
			{ImportPath: "pgregory.net/rapid", Deps: []string{"testing"}},
			{ImportPath: "eventide/internal/vocabulary", Deps: []string{"sync"}},
			{ImportPath: "eventide/core", Deps: []string{"sync", goid, sys, "eventide/internal/vocabulary", "eventide/core/internal/tasks"}},
			{ImportPath: "eventide/core/internal/poll", Deps: []string{"sync"}},
			{ImportPath: "eventide/core/internal/epoll", Deps: []string{"sync", sys, "eventide/core/internal/poll"}},
			{ImportPath: "eventide/core/internal/transport", Deps: []string{"sync"}},
			{ImportPath: "eventide/core/internal/coretest", Imports: []string{"testing"}, Deps: []string{"testing", "eventide/core", goid, sys}},
			{ImportPath: "eventide/core/internal/netpoll", Deps: []string{"sync", sys}},
			{ImportPath: "eventide/core/internal/tasks", Deps: []string{"sync"}},
			{ImportPath: "eventide/model", Deps: []string{"sync"}},
			{ImportPath: "eventide/model/cmd/explore", Deps: []string{"sync", "eventide/model", "eventide/internal/command"}},
			{ImportPath: "eventide/internal/command", Deps: []string{"sync"}},
			{ImportPath: "eventide/internal/contract", Deps: []string{"sync"}},
			{ImportPath: "eventide/internal/timeline", Deps: []string{"sync"}},
			{ImportPath: "eventide/props", Imports: []string{"testing"}, Deps: []string{"eventide/core", "eventide/model", "pgregory.net/rapid"}},
			{ImportPath: "eventide/props/internal/runner", Deps: []string{"sync"}},
			{ImportPath: "eventide/props/history", Deps: []string{goid}},
			{ImportPath: "eventide/props/exectest", Imports: []string{"testing"}, Deps: []string{"eventide/props/history"}},
			{ImportPath: "eventide/props/draintest", Imports: []string{"testing"}},
			{ImportPath: "eventide/props/draintest/subjects", Deps: []string{"eventide/core", "eventide/props/draintest"}},
			{ImportPath: "eventide/bench", Deps: []string{"eventide/core"}},
			{ImportPath: "eventide/stress", Deps: []string{"eventide/core", "eventide/model"}},
		}
	}
	if err := checkLayers(good()); err != nil {
		t.Fatalf("a good module: %v", err)
	}
	for _, c := range []struct{ in, dep, want string }{
		{"eventide/internal/vocabulary", goid, "eventide/internal/vocabulary reaches " + goid},
		{"eventide/internal/vocabulary", "eventide/core", "eventide/internal/vocabulary reaches eventide/core"},
		{"eventide/internal/timeline", "eventide/props/history", "eventide/internal/timeline reaches eventide/props/history"},
		{"eventide/core", "eventide/props/history", "eventide/core reaches eventide/props/history"},
		{"eventide/core", "eventide/model", "eventide/core reaches eventide/model"},
		{"eventide/core", "pgregory.net/rapid", "eventide/core reaches pgregory.net/rapid"},
		{"eventide/core", "eventide/corelike", "eventide/core reaches eventide/corelike"},
		{"eventide/core/internal/tasks", "eventide/core", "eventide/core/internal/tasks reaches eventide/core"},
		{"eventide/core/internal/tasks", "eventide/core/internal/poll", "eventide/core/internal/tasks reaches eventide/core/internal/poll"},
		{"eventide/core/internal/poll", "eventide/core/internal/epoll", "eventide/core/internal/poll reaches eventide/core/internal/epoll"},
		{"eventide/core/internal/poll", sys, "eventide/core/internal/poll reaches " + sys},
		{"eventide/core/internal/epoll", "eventide/core", "eventide/core/internal/epoll reaches eventide/core"},
		{"eventide/core/internal/epoll", "eventide/core/internal/tasks", "eventide/core/internal/epoll reaches eventide/core/internal/tasks"},
		{"eventide/core/internal/transport", "eventide/core", "eventide/core/internal/transport reaches eventide/core"},
		{"eventide/core/internal/netpoll", "eventide/core/internal/epoll", "eventide/core/internal/netpoll reaches eventide/core/internal/epoll"},
		{"eventide/core/internal/coretest", "eventide/model", "eventide/core/internal/coretest reaches eventide/model"},
		{"eventide/core", "eventide/core/internal/coretest", "eventide/core reaches eventide/core/internal/coretest"},
		{"eventide/core/internal/tasks", goid, "eventide/core/internal/tasks reaches " + goid},
		{"eventide/model", goid, "eventide/model reaches " + goid},
		{"eventide/model", "eventide/core", "eventide/model reaches eventide/core"},
		{"eventide/model", "eventide/internal/command", "eventide/model reaches eventide/internal/command"},
		{"eventide/model/cmd/explore", "eventide/core", "eventide/model/cmd/explore reaches eventide/core"},
		{"eventide/model/cmd/explore", goid, "eventide/model/cmd/explore reaches " + goid},
		{"eventide/internal/command", "eventide/model", "eventide/internal/command reaches eventide/model"},
		{"eventide/internal/contract", "eventide/core", "eventide/internal/contract reaches eventide/core"},
		{"eventide/props/internal/runner", "eventide/props/history", "eventide/props/internal/runner reaches eventide/props/history"},
		{"eventide/props/history", "eventide/core", "eventide/props/history reaches eventide/core"},
		{"eventide/props/history", "eventide/model", "eventide/props/history reaches eventide/model"},
		{"eventide/props/exectest", "eventide/core", "eventide/props/exectest reaches eventide/core"},
		{"eventide/props/draintest", "eventide/core", "eventide/props/draintest reaches eventide/core"},
		{"eventide/props/draintest/subjects", "eventide/model", "eventide/props/draintest/subjects reaches eventide/model"},
		{"eventide/bench", "eventide/model", "eventide/bench reaches eventide/model"},
		{"eventide/props", "eventide/bench", "eventide/props reaches eventide/bench"},
		{"eventide/props", "eventide/stress", "eventide/props reaches eventide/stress"},
		{"eventide/bench", "eventide/stress", "eventide/bench reaches eventide/stress"},
		{"eventide/stress", "eventide/bench/compare", "eventide/stress reaches eventide/bench/compare"},
		{"eventide/stress", "testing", "eventide/stress imports testing"},
		{"eventide/model", "testing", "eventide/model imports testing"},
	} {
		t.Run(c.in+" to "+c.dep, func(t *testing.T) {
			pkgs := good()
			i := slices.IndexFunc(pkgs, func(p pkg) bool { return p.ImportPath == c.in })
			pkgs[i].Imports = append(pkgs[i].Imports, c.dep)
			pkgs[i].Deps = append(pkgs[i].Deps, c.dep)
			if err := checkLayers(pkgs); err == nil || err.Error() != onlyLine(err, c.want) {
				t.Errorf("got %v, want only %q", err, c.want)
			}
		})
	}
	if err := checkLayers(good()[:5]); err == nil {
		t.Error("a list without our packages passed")
	}
}

// onlyLine returns the text of err if it is one line that begins with want.
func onlyLine(err error, want string) string {
	if text := err.Error(); strings.HasPrefix(text, want) && !strings.Contains(text, "\n") {
		return text
	}
	return want
}
