// Package build makes the binary of the interleave lane.
package build

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"eventide/props/lanes/interleave/rewrite"
)

// Lane says which binary.
type Lane struct {
	Root    string            // of the module
	Dir     string            // where the overlay and the binary go
	Changed map[string]string // files that are not as on disk: those of a mutant
	Race    bool
}

// Build rewrites core, builds the lane with the overlay, and returns the path of the
// binary and what was instrumented. An error of the rewriter names file and line.
func (l Lane) Build() (bin string, o *rewrite.Overlay, err error) {
	if l.Dir, err = filepath.Abs(l.Dir); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(l.Dir, 0o755); err != nil {
		return "", nil, err
	}
	if o, err = (rewrite.Module{Root: l.Root, Changed: l.Changed}).Rewrite(); err != nil {
		return "", nil, err
	}
	overlay, err := o.Write(l.Root, filepath.Join(l.Dir, "overlay"))
	if err != nil {
		return "", nil, err
	}
	if err := l.touchSources(); err != nil {
		return "", nil, err
	}
	changed, err := l.keepChanged()
	if err != nil {
		return "", nil, err
	}
	flags := "-ldflags=-X eventide/props/lanes/interleave.coreHash=" + o.CoreHash()
	if changed != "" {
		flags += " -X 'eventide/props/lanes/interleave.changedSources=" + changed + "'"
	}
	bin = filepath.Join(l.Dir, "lane")
	if err := l.goBuild(bin, "-overlay", overlay, flags); err != nil {
		return "", nil, err
	}
	return bin, o, nil
}

// keepChanged writes the changed files, as they were before they were rewritten, and
// returns the directory: a trace shows the lines that ran. Without any it is "".
func (l Lane) keepChanged() (string, error) {
	if len(l.Changed) == 0 {
		return "", nil
	}
	dir := filepath.Join(l.Dir, "changed")
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	for name, text := range l.Changed {
		path := filepath.Join(dir, filepath.FromSlash(name)+".txt") // it is no package of the module
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// BuildFree builds the lane without the overlay and returns the path of the binary: one
// that explores nothing, to measure how fast its programs are without a scheduler.
func (l Lane) BuildFree() (bin string, err error) {
	if l.Dir, err = filepath.Abs(l.Dir); err != nil {
		return "", err
	}
	bin = filepath.Join(l.Dir, "free")
	return bin, l.goBuild(bin)
}

// unwatched are the packages that the race detector has nothing to say of: those that
// judge, choose, and keep the log. They are not the subject, and cost time. What orders a
// program for the detector is in package det, and told by hand. The harness, package
// props, has to be watched: core's generic types are compiled where they are made
// concrete, and that is there.
var unwatched = []string{"eventide/props/history", "eventide/props/lanes/interleave", "eventide/props/lanes/interleave/strategy"}

func (l Lane) goBuild(bin string, args ...string) error {
	args = append([]string{"build", "-o", bin}, args...)
	if l.Race {
		args = append(args, "-race")
		for _, pkg := range unwatched {
			args = append(args, "-gcflags="+pkg+"=-race=false")
		}
	}
	cmd := exec.Command("go", append(args, "./props/lanes/interleave/cmd/lane")...)
	cmd.Dir = l.Root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build of the lane: %w\n%s", err, out)
	}
	return nil
}

// touchSources opens what the lane is built from, so that go test sees it: it may answer
// "(cached)" if no file that a test has opened has changed, and knows nothing of what a
// go build inside the test reads. (Core's sources are opened to be rewritten.)
func (l Lane) touchSources() error {
	return filepath.WalkDir(filepath.Join(l.Root, "props"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		return file.Close()
	})
}
