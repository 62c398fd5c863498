package mutant

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	syntax "go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMutantsCompile: the packages that a planted bug changes still compile with the bug in
// them. A planted bug that does not compile shows nothing, and only the long run of all
// planted bugs would find it.
//
// Packages that import a changed package are not checked: a planted bug changes what code
// does, not its exported types.
func TestMutantsCompile(t *testing.T) {
	var all []Mutant
	for _, dir := range dirs(t) {
		some, err := Load(dir)
		require.NoError(t, err)
		all = append(all, some...)
	}
	c := newCompiler(t, all)
	var group sync.WaitGroup
	next := make(chan Mutant)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for m := range next {
				assert.NoError(t, c.check(m), "%s does not compile", m.Name)
			}
		})
	}
	for _, m := range all {
		next <- m
	}
	close(next)
	group.Wait()
}

// TestCompilerFindsErrors: each kind of edit that does not compile is found.
func TestCompilerFindsErrors(t *testing.T) {
	edit := func(file, old, new string) Mutant {
		return Mutant{Name: "m", Edits: []Edit{{File: file, Old: old, New: new}}}
	}
	for want, m := range map[string]Mutant{
		"mismatched types":      edit("core/loop.go", "const turnTasks = 64\n", "const turnTasks = \"64\"\n"),
		"undefined: keptBytes":  edit("core/loop.go", "if cap(spent) > keptCapacity {\n", "if cap(spent) > keptBytes {\n"),
		"declared and not used": edit("core/loop.go", "\terr := e.broken\n", "\terr, more := e.broken, 1\n"),
		"not used":              edit("props/mutant/mutant.go", "\t\"io\"\n", "\t\"io\"\n\t\"maps\"\n"),
		"missing return":        edit("model/key.go", "\treturn k\n}\n\n// number", "}\n\n// number"),
		"expected":              edit("props/interleave/overlay/files/runtime_clock.go.txt", "package runtime\n", "package\n"),
		"undefined: nowhere":    edit("props/sightings_test.go", "const fullRun = 1000\n", "const fullRun = nowhere\n"),
	} {
		require.ErrorContains(t, newCompiler(t, []Mutant{m}).check(m), want)
	}
}

// compiler type-checks packages with changed files. Its methods may be called on many
// goroutines at once.
type compiler struct {
	packages map[string]*sources // by directory from the root
	fset     *token.FileSet

	mu       sync.Mutex
	exports  map[string]string // guarded by mu; by import path: the file of the export data
	imported types.Importer    // guarded by mu
}

// sources is what go list reports of a package, and its parsed files by path from the root.
type sources struct {
	ImportPath, Dir, Export           string
	GoFiles, TestGoFiles, TestImports []string

	files map[string]*ast.File
	tests bool // files has the tests of the package too
}

// newCompiler parses the packages that the planted bugs change.
func newCompiler(t *testing.T, all []Mutant) *compiler {
	c := &compiler{packages: map[string]*sources{}, exports: map[string]string{}, fset: token.NewFileSet()}
	tests := map[string]bool{} // directories with a changed test file
	for _, m := range all {
		for _, e := range m.Edits {
			if strings.HasSuffix(e.File, ".go") {
				dir := path.Dir(e.File)
				tests[dir] = tests[dir] || strings.HasSuffix(e.File, "_test.go")
			}
		}
	}
	var args []string
	for _, dir := range slices.Sorted(maps.Keys(tests)) {
		args = append(args, "./"+dir)
	}
	if len(args) == 0 {
		return c // no bug is in a package
	}
	absolute, err := filepath.Abs(root)
	require.NoError(t, err)
	for _, p := range list(t, args) {
		dir, err := filepath.Rel(absolute, p.Dir)
		require.NoError(t, err)
		p.tests = tests[filepath.ToSlash(dir)]
		c.packages[filepath.ToSlash(dir)] = p
		if p.tests {
			args = append(args, p.TestImports...)
		}
		require.NoError(t, c.parse(filepath.ToSlash(dir), p))
	}
	for _, p := range list(t, append([]string{"-export", "-deps"}, args...)) {
		c.exports[p.ImportPath] = p.Export
	}
	c.imported = importer.ForCompiler(c.fset, "gc", func(importPath string) (io.ReadCloser, error) { return os.Open(c.exports[importPath]) })
	return c
}

// list runs go list in the root of the module.
func list(t *testing.T, args []string) (all []*sources) {
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,TestImports"}, args...)...)
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := &sources{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, p)
	}
}

func (c *compiler) parse(dir string, p *sources) error {
	p.files = map[string]*ast.File{}
	names := p.GoFiles
	if p.tests {
		names = append(names, p.TestGoFiles...)
	}
	for _, name := range names {
		f, err := syntax.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, syntax.SkipObjectResolution)
		if err != nil {
			return err
		}
		p.files[path.Join(dir, name)] = f
	}
	return nil
}

// check returns the first error of a package that the planted bug changes. Files for
// another operating system and files that are no package are only parsed.
func (c *compiler) check(m Mutant) error {
	texts, err := m.Apply(root)
	if err != nil {
		return err
	}
	changed := map[string]map[string]*ast.File{} // by directory: all files of the package
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		parsed, err := syntax.ParseFile(c.fset, file, texts[file], syntax.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(file)
		if p := c.packages[dir]; p == nil || p.files[file] == nil {
			continue
		}
		if changed[dir] == nil {
			changed[dir] = maps.Clone(c.packages[dir].files)
		}
		changed[dir][file] = parsed
	}
	in := &planted{compiler: c, changed: changed, done: map[string]*types.Package{}}
	for _, dir := range slices.Sorted(maps.Keys(changed)) {
		if _, err := in.Import(c.packages[dir].ImportPath); err != nil {
			return err
		}
	}
	return nil
}

// planted is an importer in which the packages of one planted bug have its changes.
type planted struct {
	*compiler
	changed map[string]map[string]*ast.File
	done    map[string]*types.Package
}

// Import implements types.Importer.
func (p *planted) Import(importPath string) (*types.Package, error) {
	if pkg := p.done[importPath]; pkg != nil {
		return pkg, nil
	}
	for dir, files := range p.changed {
		if p.packages[dir].ImportPath != importPath {
			continue
		}
		list := make([]*ast.File, 0, len(files))
		for _, file := range slices.Sorted(maps.Keys(files)) {
			list = append(list, files[file])
		}
		conf := types.Config{Importer: p, Sizes: types.SizesFor("gc", runtime.GOARCH)}
		pkg, err := conf.Check(importPath, p.fset, list, nil)
		if err != nil {
			return nil, err
		}
		p.done[importPath] = pkg
		return pkg, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exports[importPath] == "" && importPath != "unsafe" { // the planted bug adds the import
		out, err := exec.Command("go", "list", "-export", "-f", "{{.Export}}", importPath).Output()
		if err != nil {
			return nil, fmt.Errorf("go list %s: %w", importPath, err)
		}
		p.exports[importPath] = strings.TrimSpace(string(out))
	}
	return p.imported.Import(importPath)
}
