package release

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The self-test plants its regressions in a build of head's core. It changes no source file: the
// overlay of go build -overlay replaces them. One build has all regressions, and the environment
// of a process selects the active one.
const (
	plantEnv     = "EVENTIDE_GATE_PLANT" // spin, alloc, syscall or wake
	plantSpinEnv = "EVENTIDE_GATE_SPIN"  // how many turns
)

// plantedFile is added to package core.
const plantedFile = `package core

import (
	"os"
	"strconv"
	"syscall"
)

var (
	gatePlant    = map[string]int{"spin": 1, "alloc": 2, "syscall": 3, "wake": 4}[os.Getenv("` + plantEnv + `")]
	gateSpins, _ = strconv.Atoi(os.Getenv("` + plantSpinEnv + `"))
	gateSink     *[2]uint64
)

func gatePlantInExecute() {
	switch gatePlant {
	case 1:
		x := uint64(88172645463325252)
		for range gateSpins {
			x ^= x << 13
			x ^= x >> 7
		}
		if x == 0 {
			gateSink = nil
		}
	case 2:
		gateSink = new([2]uint64)
	case 3:
		syscall.Getppid()
	}
}

func (e *Executor) gatePlantInWake() {
	if gatePlant == 4 {
		e.wakes++
		e.poller.Wake()
	}
}
`

// plants are the methods of Executor that begin with a call of a planted function.
var plants = []struct{ method, call string }{
	{"Execute", "gatePlantInExecute()"},
	{"claimWake", "e.gatePlantInWake()"},
}

// plant writes the planted sources into dir and returns the overlay that puts them into the
// module at root. A method that no longer exists is an error, because the self-test would then
// plant nothing.
func plant(root, dir string) (overlay string, err error) {
	core := filepath.Join(root, "core")
	sources, err := readSources(core)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	added := filepath.Join(dir, "gateplanted.go")
	if err := os.WriteFile(added, []byte(plantedFile), 0o666); err != nil {
		return "", err
	}
	replace[filepath.Join(core, "gateplanted.go")] = added
	for i, p := range plants {
		path, err := plantIn(sources, core, p.method, p.call)
		if err != nil {
			return "", err
		}
		replace[path] = filepath.Join(dir, fmt.Sprintf("planted%d.go", i))
	}
	for path, to := range replace {
		if text, ok := sources[path]; ok {
			if err := os.WriteFile(to, text, 0o666); err != nil {
				return "", err
			}
		}
	}
	return writeOverlay(filepath.Join(dir, "planted.json"), replace)
}

// readSources returns the files of a package by their path, without its tests.
func readSources(dir string) (map[string][]byte, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	sources := map[string][]byte{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		if sources[path], err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	return sources, nil
}

// plantIn inserts a call at the beginning of a method of Executor, and returns the
// path of the source that it changed.
func plantIn(sources map[string][]byte, dir, method, call string) (string, error) {
	for path, text := range sources {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Name.Name == method && f.Body != nil && receiverOf(f) == "Executor" {
				at := files.PositionFor(f.Body.Lbrace, false).Offset + 1
				sources[path] = slices.Insert(slices.Clone(text), at, []byte(" "+call+";")...)
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("gate: there is no method (*Executor).%s in %s to plant anything in", method, dir)
}

func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) != 1 {
		return ""
	}
	star, ok := f.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return ""
	}
	name, ok := star.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return name.Name
}

// writeOverlay writes the file that go build -overlay reads.
func writeOverlay(path string, replace map[string]string) (string, error) {
	text, err := json.Marshal(struct{ Replace map[string]string }{replace})
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, text, 0o666)
}
