package auto

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Source is the packages whose sites are drawn.
type Source struct {
	Sites []Site // by file, then by operator, then by place
}

// pkg is one package, parsed and with its types.
type pkg struct {
	path  string
	fset  *token.FileSet
	files []*file
	types *types.Package
	info  *types.Info
	from  types.Importer
}

// file is one file of a package.
type file struct {
	name   string // from the root of the module
	text   []byte
	syntax *ast.File
}

// Load reads the packages that the patterns name, from the root of a module, and finds
// their sites. Files that this system does not build, and tests, have none. The go command
// builds what the packages import, so that their types are known.
func Load(root string, patterns ...string) (*Source, error) {
	listed, exports, err := list(root, patterns)
	if err != nil {
		return nil, err
	}
	s := &Source{}
	for _, l := range listed {
		p, err := load(root, l, exports)
		if err != nil {
			return nil, err
		}
		for _, f := range p.files {
			s.Sites = append(s.Sites, sitesOf(p, f)...)
		}
	}
	return s, nil
}

// listedPackage is what the go command says of a package.
type listedPackage struct {
	Dir, ImportPath, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// list returns the packages that the patterns name, and where the types of each package
// are that one of them imports.
func list(root string, patterns []string) (named []listedPackage, exports map[string]string, err error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-export", "-json=Dir,ImportPath,Export,GoFiles,DepOnly", "--"}, patterns...)...)
	cmd.Dir = root
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, nil, fmt.Errorf("go list %q: %w\n%s", patterns, err, &complaint)
	}
	exports = map[string]string{}
	for d := json.NewDecoder(&out); ; {
		var l listedPackage
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("go list %q: %w", patterns, err)
		}
		exports[l.ImportPath] = l.Export
		if !l.DepOnly {
			named = append(named, l)
		}
	}
	return named, exports, nil
}

func load(root string, l listedPackage, exports map[string]string) (*pkg, error) {
	p := &pkg{path: l.ImportPath, fset: token.NewFileSet()}
	p.from = importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no types of %s", path)
		}
		return os.Open(exports[path])
	})
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	for _, name := range l.GoFiles {
		path := filepath.Join(l.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		syntax, err := parser.ParseFile(p.fset, path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if path, err = filepath.Rel(root, path); err != nil {
			return nil, err
		}
		p.files = append(p.files, &file{filepath.ToSlash(path), text, syntax})
	}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	p.types, err = p.check(nil, p.info)
	return p, err
}

// checks returns what is wrong with the types of the package with other texts of some files.
func (p *pkg) checks(changed map[*file][]byte) error {
	_, err := p.check(changed, nil)
	return err
}

// check types the package, with other texts of some files.
func (p *pkg) check(changed map[*file][]byte, info *types.Info) (*types.Package, error) {
	var syntax []*ast.File
	for _, f := range p.files {
		s := f.syntax
		if text, ok := changed[f]; ok {
			var err error
			if s, err = parser.ParseFile(p.fset, f.name, text, parser.SkipObjectResolution); err != nil {
				return nil, err
			}
		}
		syntax = append(syntax, s)
	}
	config := types.Config{Importer: withChosen{p.from}, GoVersion: ""}
	return config.Check(p.path, p.fset, syntax, info)
}

// sitesOf returns the sites of a file.
func sitesOf(p *pkg, f *file) []Site {
	var all []Site
	for _, o := range operators {
		walk := finder{pkg: p, file: f, operator: o.name}
		for _, d := range f.syntax.Decls {
			walk.decl(d, o.find)
		}
		all = append(all, walk.sites...)
	}
	return all
}

func (f *finder) decl(d ast.Decl, find func(*finder, ast.Node)) {
	f.function, f.results = "", nil
	if fn, ok := d.(*ast.FuncDecl); ok {
		f.function = f.nameOf(fn)
		f.results = f.pkg.info.Defs[fn.Name].Type().(*types.Signature).Results()
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil:
		case *ast.Field, *ast.ImportSpec: // types, and tags
			return false
		case *ast.ArrayType:
			return n.Len == nil
		default:
			find(f, n)
		}
		return true
	})
}

// nameOf is the function as reports write it: (*Executor).turn.
func (f *finder) nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	return "(" + f.text(fn.Recv.List[0].Type) + ")." + fn.Name.Name
}

// Pick draws n sites uniformly, none twice, and of each one way, so that the changed
// package compiles. stillborn are the draws that did not. The same sources and seed give
// the same picks; a larger n begins with those of a smaller one.
func (s *Source) Pick(n int, seed uint64) (picks []Pick, stillborn int, err error) {
	if n < 1 || n > len(s.Sites) {
		return nil, 0, fmt.Errorf("got %d picks, want 1 to %d, which is how many sites there are", n, len(s.Sites))
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for _, i := range r.Perm(len(s.Sites)) {
		site := s.Sites[i]
		p := Pick{site, r.IntN(len(site.ways))}
		if !p.compiles() {
			stillborn++
			continue
		}
		if picks = append(picks, p); len(picks) == n {
			return picks, stillborn, nil
		}
	}
	return nil, stillborn, fmt.Errorf("got %d picks, want at most %d: so many sites have a change that compiles", n, len(picks))
}

// compiles reports whether the package of a pick does.
func (p Pick) compiles() bool {
	e := p.ways[p.Way]
	text := slices.Concat(p.file.text[:e.start], []byte(e.text), p.file.text[e.end:])
	return p.pkg.checks(map[*file][]byte{p.file: text}) == nil
}

// Has reports whether a change of one file, as Pick.Changed returns it, is a way of a site.
func (s *Source) Has(changed map[string]string) bool {
	for _, site := range s.Sites {
		text, ok := changed[site.file.name]
		if !ok {
			continue
		}
		for way, e := range site.ways {
			if len(text) == len(site.file.text)+len(e.text)-(e.end-e.start) && (Pick{site, way}).Changed()[site.file.name] == text {
				return len(changed) == 1
			}
		}
	}
	return false
}
