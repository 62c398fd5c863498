package rewrite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module says what is rewritten.
type Module struct {
	Root    string            // of the module
	Changed map[string]string // files that are not as on disk, such as those of a mutant: path from Root -> text
}

// Overlay is what Rewrite has made.
type Overlay struct {
	Files  map[string][]byte // path from Root -> text
	Counts map[string]Counts // path from Root -> operations
}

// targets are the packages with files to rewrite, from the root.
var targets = []string{"core", "core/internal/poll", "core/internal/tasks", "props", "props/history", "props/lanes/interleave/toy", "props/lanes/interleave/bare"}

// Rewrite rewrites core as a whole, and the harness of the property tests where it
// waits, starts goroutines, or reads the time. An error names every place that
// cannot be instrumented.
func (m Module) Rewrite() (*Overlay, error) {
	imp, err := m.importer()
	if err != nil {
		return nil, err
	}
	out := &Overlay{Files: map[string][]byte{}, Counts: map[string]Counts{}}
	var errs []error
	for _, dir := range targets {
		p, err := m.load(dir)
		if err != nil {
			return nil, err
		}
		if err := p.check(imp); err != nil {
			return nil, err
		}
		errs = append(errs, p.rewrite(out)...)
	}
	for file, text := range m.Changed {
		if _, ok := out.Files[file]; !ok {
			out.Files[file] = []byte(text)
		}
	}
	return out, errors.Join(errs...)
}

// pkg is one package, parsed and checked.
type pkg struct {
	dir   string
	path  string
	fset  *token.FileSet
	names []string // from the root
	files []*ast.File
	srcs  [][]byte
	full  []string
	info  *types.Info
}

// load parses the files that the go command would build.
func (m Module) load(dir string) (*pkg, error) {
	listed, err := m.list("-json=ImportPath,GoFiles,Dir,Error", "./"+dir)
	if err != nil {
		return nil, err
	}
	p := &pkg{dir: dir, path: listed[0].ImportPath, fset: token.NewFileSet()}
	for _, name := range listed[0].GoFiles {
		rel := dir + "/" + name
		full := filepath.Join(listed[0].Dir, name)
		src, changed := []byte(m.Changed[rel]), m.Changed[rel] != ""
		if !changed {
			if src, err = os.ReadFile(full); err != nil {
				return nil, err
			}
		}
		f, err := parse(p.fset, full, src)
		if err != nil {
			return nil, err
		}
		p.names, p.files, p.srcs, p.full = append(p.names, rel), append(p.files, f), append(p.srcs, src), append(p.full, full)
	}
	return p, nil
}

func (p *pkg) check(imp types.Importer) error {
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: imp}
	_, err := conf.Check(p.path, p.fset, p.files, p.info)
	return err
}

// lists returns how a file is rewritten; nil: not at all.
func lists(name string) map[string]string {
	if strings.HasPrefix(name, "core/") || strings.HasPrefix(name, "props/lanes/interleave/toy/") {
		return lookAlikes
	}
	if how := harness[name]; how != nil {
		return how
	}
	return harness[path.Dir(name)]
}

func (p *pkg) rewrite(out *Overlay) (errs []error) {
	for i, name := range p.names {
		imports := lists(name)
		if imports == nil {
			continue
		}
		f := &file{fset: p.fset, ast: p.files[i], src: p.srcs[i], name: p.full[i], imports: imports, info: p.info, counts: Counts{}}
		f.rewrite()
		errs = append(errs, f.errs...)
		out.Files[name], out.Counts[name] = f.output(), f.counts
	}
	return errs
}

// importSpecs points imports at the look-alikes, and refuses what is on no list.
func (f *file) importSpecs() {
	inCore := strings.Contains(filepath.ToSlash(f.name), "/core/")
	for _, spec := range f.ast.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		to, replaced := f.imports[path]
		switch {
		case replaced:
			name := ""
			if spec.Name == nil {
				name = base(path) + " "
			}
			f.replace(spec, spec.Path.Pos(), spec.Path.End(), name+strconv.Quote(to))
		case !inCore || leftAlone[path] != "" || strings.HasPrefix(path, "eventide/"):
		case kernel[path]:
			if why := kernelFiles[filepath.Base(f.name)]; why == "" {
				f.errorf(spec, "import of %s: only the files that the lane never runs may talk to the operating system (kernelFiles in %s/rewrite/lists.go)", path, filepath.Dir(detPath))
			}
		default:
			f.errorf(spec, "import of %s: it is on no list of props/lanes/interleave/rewrite/lists.go, so its operations would not be scheduled", path)
		}
	}
}

func base(path string) string {
	if path == "math/rand/v2" {
		return "rand"
	}
	return filepath.Base(path)
}

// Write writes the files and an overlay.json to dir, and returns the path of the
// latter, for go build -overlay.
func (o *Overlay) Write(root, dir string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range o.Files {
		path := filepath.Join(dir, strings.ReplaceAll(name, "/", "_")+".txt")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, name)] = path
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o644)
}

// Total counts the operations of core.
func (o *Overlay) Total() Counts {
	all := Counts{}
	for name, counts := range o.Counts {
		if !strings.HasPrefix(name, "core/") || strings.HasPrefix(name, "props/lanes/interleave/toy/") {
			continue
		}
		for k, n := range counts {
			all[k] += n
		}
	}
	return all
}

// CoreHash names what was made of core: two overlays of the same core, instrumented in
// the same way, have the same.
func (o *Overlay) CoreHash() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(o.Files)) {
		if strings.HasPrefix(name, "core/") {
			_, text, _ := bytes.Cut(o.Files[name], []byte("\n")) // but for the path of the file
			fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath string
	Dir        string
	Export     string
	GoFiles    []string
	Error      *struct{ Err string }
}

func (m Module) list(args ...string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-e"}, args...)...)
	cmd.Dir = m.Root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("go list %s: no packages", strings.Join(args, " "))
	}
	return all, nil
}

// importer reads the export data of what the targets import. Core's own, as the
// harness sees it, is that of the disk: a mutant changes no types that it uses.
func (m Module) importer(also ...string) (types.Importer, error) {
	args := []string{"-export", "-deps", "-json=ImportPath,Export"}
	for _, dir := range targets {
		args = append(args, "./"+dir)
	}
	all, err := m.list(append(args, also...)...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, l := range all {
		exports[l.ImportPath] = l.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
		return os.Open(exports[path])
	}), nil
}
