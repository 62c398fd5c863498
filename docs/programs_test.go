package docs

import (
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var printed = regexp.MustCompile("(?s)It prints(?: `([^`]+)`|\n\n```\n(.*?)```)")

// TestPrograms runs each program of a page and compares what it prints.
func TestPrograms(t *testing.T) {
	for _, p := range pages(t) {
		i := slices.IndexFunc(p.blocks(), func(b block) bool { return b.language == "go" && strings.HasPrefix(b.text, "package main\n") })
		if (i >= 0) != slices.Contains(programs, p.name) {
			t.Errorf("%s: has a program: %v, want that of %v alone", p.name, i >= 0, programs)
		}
		if i < 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			if err := runs(t, p, p.blocks()[i].text); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestProgramsCanDiffer: another output is seen, and code that gofmt would change.
func TestProgramsCanDiffer(t *testing.T) {
	p := readPage(t, "README.md")
	program := p.blocks()[1].text
	wrong := page{p.name, strings.Replace(p.text, "It prints `lost: 0`", "It prints `lost: 1`", 1)}
	if err := runs(t, wrong, program); err == nil || !strings.Contains(err.Error(), `got "lost: 0\n"`) {
		t.Errorf("got %v for another output", err)
	}
	if err := runs(t, p, strings.Replace(program, "ran, accepted", "ran,accepted", 1)); err == nil {
		t.Error("got no error for code that gofmt changes")
	}
}

func runs(t *testing.T, p page, program string) error {
	m := printed.FindStringSubmatch(p.text)
	if m == nil {
		return fmt.Errorf("%s does not say what its program prints", p.name)
	}
	want := strings.TrimSpace(m[1]+m[2]) + "\n"
	if formatted, err := format.Source([]byte(program)); err != nil || string(formatted) != program {
		return fmt.Errorf("%s: gofmt changes the program: %v", p.name, err)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o644); err != nil {
		return err
	}
	cmd := exec.Command("go", "run", file)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil || string(out) != want {
		return fmt.Errorf("%s: got %q, %v, want %q", p.name, out, err, want)
	}
	return nil
}

// TestInstall runs the README's commands in a module of its own, beside this one, and then
// its program.
func TestInstall(t *testing.T) {
	blocks := readPage(t, "README.md").blocks()
	if blocks[0].language != "sh" || !strings.Contains(blocks[0].text, "=../eventide\n") {
		t.Fatalf("the README's first block is %v, want how to install", blocks[0])
	}
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module yours\n\ngo 1.26.0\n", "main.go": blocks[1].text,
		"install.sh": strings.Replace(blocks[0].text, "=../eventide\n", "="+here+"\n", 1) + "go run .\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-e", "install.sh")
	cmd.Dir = dir
	// The modules are in the cache, as this test could not have been built without them.
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GONOSUMDB=*", "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "lost: 0\n") {
		t.Errorf("%v\n%s", err, out)
	}
}
