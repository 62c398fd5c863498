package stress

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkModuleNames returns an error unless the module of each directory has a name that
// no other has, and only those of our own tree are below module. Tools that draw what
// imports what take two modules of one name for one.
func checkModuleNames(names map[string]string) error {
	dirs := make(map[string]string)
	for dir, name := range names {
		if other, taken := dirs[name]; taken {
			return fmt.Errorf("%s and %s are both module %s", min(dir, other), max(dir, other), name)
		}
		dirs[name] = dir
		if strings.Contains(dir, "testdata") && within(name, module) {
			return fmt.Errorf("%s is module %s: a module of testdata has a name outside of %s", dir, name, module)
		}
	}
	if dirs[module] != "." {
		return fmt.Errorf("module %s is in %q, want the root", module, dirs[module])
	}
	return nil
}

func TestModulesHaveNamesOfTheirOwn(t *testing.T) {
	root := os.DirFS("..")
	names := make(map[string]string)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == "out": // what commands build
			return fs.SkipDir
		case d.Name() != "go.mod":
			return nil
		}
		text, err := fs.ReadFile(root, path)
		line, _, _ := strings.Cut(string(text), "\n")
		names[filepath.Dir(path)] = strings.TrimPrefix(line, "module ")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := checkModuleNames(names); err != nil {
		t.Error(err)
	}
}

// TestModuleNamesFail plants one violation of each kind.
func TestModuleNamesFail(t *testing.T) {
	for want, names := range map[string]map[string]string{
		"a/testdata and b are both module example.com/x":        {".": "eventide", "a/testdata": "example.com/x", "b": "example.com/x"},
		"a/testdata is module eventide/a: a module of testdata": {".": "eventide", "a/testdata": "eventide/a"},
		`module eventide is in "", want the root`:               {"b": "eventide/b"},
	} {
		if err := checkModuleNames(names); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
