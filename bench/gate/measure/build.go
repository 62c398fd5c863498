package measure

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Package has benchmarks.
type Package struct {
	ImportPath string
	Dir        string // from the directory of the module
}

var benchmarkFunction = regexp.MustCompile(`(?m)^func Benchmark\w*\(\w+ \*testing\.B\)`)

// Packages lists the packages that match patterns such as ./... in the module at root, New
// or Old, and that have benchmarks.
func (c *Checkout) Packages(ctx context.Context, root string, patterns []string) ([]Package, error) {
	out, err := c.Command(ctx, root, "go", append([]string{"list", "-e", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	var all []Package
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			if benchmarkFunction.Match(text) {
				dir, err := filepath.Rel(root, p.Dir)
				if err != nil {
					return nil, err
				}
				all = append(all, Package{p.ImportPath, dir})
				break
			}
		}
	}
}

// Build compiles the test binary of a package of the module at root. Layout 0 is the
// linker's own order of functions; every other number is another order. Equal sources give
// equal binaries wherever they are.
func (c *Checkout) Build(ctx context.Context, root string, p Package, layout int) (Binary, error) {
	side := "head"
	if root == c.Old {
		side = "base" + strconv.Itoa(c.moves)
	}
	name := fmt.Sprintf("%s-%s-%d.test", strings.NewReplacer("/", "-", ".", "-").Replace(p.ImportPath), side, layout)
	b := Binary{Path: filepath.Join(c.Dir, name), Dir: filepath.Join(root, p.Dir)}
	args := []string{"test", "-c", "-trimpath", "-buildvcs=false", "-o", b.Path}
	if layout != 0 {
		args = append(args, "-ldflags=-randlayout="+strconv.Itoa(layout))
	}
	_, err := c.Command(ctx, root, "go", append(args, "./"+filepath.ToSlash(p.Dir))...)
	return b, err
}

// Same reports whether two binaries are equal byte by byte, and so are the files beside them and
// in testdata, which a benchmark may read.
func Same(a, b Binary) (bool, error) {
	left, err := Fingerprint(a)
	if err != nil {
		return false, err
	}
	right, err := Fingerprint(b)
	return left == right, err
}

// Fingerprint returns a hash of a binary, and of the names and the contents of the files beside it and in testdata,
// as they are now: Move changes those of base.
func Fingerprint(b Binary) (sum [sha256.Size]byte, err error) {
	names, err := files(b.Dir)
	if err != nil {
		return sum, err
	}
	hash := sha256.New()
	paths := []string{b.Path}
	for _, name := range names {
		paths = append(paths, filepath.Join(b.Dir, name))
	}
	for i, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return sum, err
		}
		name := ""
		if i > 0 {
			name = names[i-1]
		}
		fmt.Fprintf(hash, "%q %d\n", name, len(content))
		hash.Write(content)
	}
	hash.Sum(sum[:0])
	return sum, nil
}

// files returns the names of the files of a directory and of its testdata, sorted.
func files(dir string) ([]string, error) {
	var all []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && !strings.HasPrefix(name, "testdata"):
			return fs.SkipDir
		case entry.Type().IsRegular() && name != ".git": // which is a file in a worktree
			all = append(all, name)
		}
		return nil
	})
	return all, err
}
