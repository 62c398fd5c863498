package overlay

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goroot returns the distribution that runs the test.
func goroot(t *testing.T) (root, version string) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	return lines[0], lines[1]
}

func TestMakeIsStable(t *testing.T) {
	root, version := goroot(t)
	dir := filepath.Join(t.TempDir(), "cache")
	name, err := Make(root, version, dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	again, err := Make(root, version, dir)
	if err != nil || again != name {
		t.Fatalf("%q, %v, want %q again", again, err, name)
	}
	if after, err := os.Stat(name); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Fatalf("the overlay was written again: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v, want one folder", entries, err)
	}
}

func TestMakeWithoutAWritableFolder(t *testing.T) {
	root, version := goroot(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Make(root, version, filepath.Join(file, "cache"))
	if err == nil || !strings.Contains(err.Error(), "the folder for overlays cannot be made") {
		t.Fatalf("%v", err)
	}
}

func TestReleases(t *testing.T) {
	for version, want := range map[string]string{
		"go1.26": "go1.26", "go1.26.8": "go1.26", "go1.26rc1": "go1.26", "go1.26.8 X:nosynchashtriemap": "go1.26", "go1.25.14": "go1.25",
	} {
		if got, err := release(version); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", version, got, err, want)
		}
	}
	for _, version := range []string{"go1.2", "go1.24.3", "go1.260", "devel go1.27-abc", ""} {
		_, err := release(version)
		if err == nil || !strings.Contains(err.Error(), "go1.25, go1.26") {
			t.Errorf("%q: %v, want an error that lists the supported releases", version, err)
		}
	}
}

// An error names every place that is missing, not only the first: it is what a new
// release needs.
func TestEveryMissingPlaceIsNamed(t *testing.T) {
	from, _ := goroot(t)
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "sync"), os.DirFS(filepath.Join(from, "src", "sync"))); err != nil {
		t.Fatal(err)
	}
	_, err := edited(root, []edit{{file: "sync/once.go", in: "g", at: enter}, {file: "sync/once.go", in: "h", at: enter}, {file: "sync/b.go", in: "f", at: enter}})
	for _, want := range []string{"sync/once.go: there is no g", "sync/once.go: there is no h", "sync/b.go"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := MakeLike(root, "go1.2", t.TempDir()); err == nil || !strings.Contains(err.Error(), "go1.25, go1.26") {
		t.Errorf("%v, want an error that lists the supported releases", err)
	}
}

func TestMissingPlaceIsNamed(t *testing.T) {
	from, _ := goroot(t)
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "sync"), os.DirFS(filepath.Join(from, "src", "sync"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		edit edit
		want []string
	}{
		{edit{file: "sync/once.go", in: "(*Once).Undo", at: enter, text: "x()"}, []string{"sync/once.go", "(*Once).Undo"}},
		{edit{file: "sync/once.go", in: "(*Once).Do", at: before, find: "undo()", text: "x()"}, []string{"sync/once.go", "(*Once).Do", "undo()", "0 times"}},
		{edit{file: "sync/twice.go", in: "x", at: enter}, []string{"sync/twice.go"}},
	} {
		_, err := edited(root, []edit{c.edit})
		if err == nil {
			t.Fatalf("%+v: no error", c.edit)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not name %q", err, want)
			}
		}
	}
}

// Go 1.25 has two files with a Map, and chooses one by a build constraint.
func TestMapsOfBothFiles(t *testing.T) {
	root, _ := goroot(t)
	text, err := os.ReadFile(filepath.Join(root, "src", "sync", "map.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, present := range [][]string{mapFiles, mapFiles[:1], mapFiles[1:], nil} {
		edits, err := mapEdits(func(name string) ([]byte, error) {
			if !slices.Contains(present, name) {
				return nil, os.ErrNotExist
			}
			return text, nil
		})
		for _, name := range present {
			if n := slices.IndexFunc(edits, func(e edit) bool { return e.file == name && e.in == "(*Map).Range" }); n < 0 {
				t.Errorf("with %v there is no edit of Range in %s", present, name)
			}
		}
		if (err != nil) != (len(present) == 0) {
			t.Errorf("with %v: %v", present, err)
		}
	}
}

const sample = `package p

import "fmt"

type pair struct {
	a int // the first
}

func (p *pair) set(n int) {
	// A comment that says p.a = n.
	if n > 0 { fmt.Println(n) }
	p.a = n
	for range n { p.a = n + 1 }
}
`

func TestApply(t *testing.T) {
	got, err := apply("p.go", []byte(sample), []edit{
		{in: "pair", at: field, text: "b int; "},
		{in: "(*pair).set", at: enter, text: "one()"},
		{in: "(*pair).set", at: into, find: "if n > 0 {}", text: "two(unsafe.Pointer(p))"},
		{in: "(*pair).set", at: before, find: "p.a = n", text: "three()"},
		{in: "(*pair).set", at: after, find: "p.a = n", text: "four()"},
		{in: "(*pair).set", at: replace, find: "n + 1", text: "n"},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `package p; import "unsafe"

import "fmt"

type pair struct {
	a int // the first
b int; }

func (p *pair) set(n int) { one();
	// A comment that says p.a = n.
	if n > 0 { two(unsafe.Pointer(p)); fmt.Println(n) }
	three(); p.a = n; four()
	for range n { p.a = n }
}
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, bad := range []edit{
		{in: "(*pair).set", at: before, find: "p.a = 3", text: "x()"},
		{in: "(*pair).set", at: into, find: "p.a = n", text: "x()"},
		{in: "(*pair).set", at: before, find: "p.a = n", n: 2, text: "x()"},
		{in: "(*pair).set", at: before, find: "a b", text: "x()"},
		{in: "pair.set", at: enter, text: "x()"},
	} {
		if got, err := apply("p.go", []byte(sample), []edit{bad}); err == nil {
			t.Errorf("%+v gives\n%s", bad, got)
		}
	}
}

// Other packages must not learn that the engine has been written for a user of its own.
func TestNoNameOfTheModule(t *testing.T) {
	list, err := files.ReadDir("files")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		b, err := files.ReadFile("files/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.ToLower(string(b)), "eventide") {
			t.Errorf("%s names the module", entry.Name())
		}
		if n := strings.Count(string(b), "\n"); n > 400 {
			t.Errorf("%s has %d lines, want at most 400", entry.Name(), n)
		}
	}
}

func TestRootBelowTheModuleCache(t *testing.T) {
	cache, dir := filepath.Join(t.TempDir(), "mod"), t.TempDir()
	outside := filepath.Join(t.TempDir(), "go")
	if got, err := Root(outside, cache, dir); got != outside || err != nil {
		t.Errorf("%q, %v, want %q", got, err, outside)
	}
	inside := filepath.Join(cache, "golang.org", "toolchain@v0.0.1-go1.25.0.linux-amd64")
	for range 2 {
		got, err := Root(inside, cache, dir)
		if err != nil || filepath.Dir(got) != dir {
			t.Fatalf("%q, %v, want a name below %q", got, err, dir)
		}
		if to, err := os.Readlink(got); to != inside || err != nil {
			t.Errorf("%q leads to %q, %v, want %q", got, to, err, inside)
		}
	}
	command, env := RootEnv("/r", []string{"A=b"})
	if command != "/r/bin/go" || strings.Join(env, " ") != "A=b GOROOT=/r GOTOOLCHAIN=local" {
		t.Errorf("%q, %q", command, env)
	}
}
