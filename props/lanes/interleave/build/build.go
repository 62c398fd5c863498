// Package build makes the binary of the interleave lane.
package build

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"eventide/props/interleave/overlay"
)

// Lane says which binary Build makes.
type Lane struct {
	Root    string            // of the module
	Dir     string            // where the overlay and the binary go
	Changed map[string]string // files that replace those on disk, such as those of a mutant: path from Root -> text
	Race    bool
}

// Build builds the lane with the overlay of package overlay, which controls the Go
// runtime, and returns the path of the binary. An error has the whole output of the go
// command.
func (l Lane) Build() (bin string, err error) {
	if l.Dir, err = filepath.Abs(l.Dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(l.Dir, 0o755); err != nil {
		return "", err
	}
	if err := l.touchSources(); err != nil {
		return "", err
	}
	changed, err := l.keepChanged()
	if err != nil {
		return "", err
	}
	hash, err := CoreHash(l.Root, l.Changed)
	if err != nil {
		return "", err
	}
	file, err := l.overlay(changed)
	if err != nil {
		return "", err
	}
	flags := "-ldflags=-w -X eventide/props/lanes/interleave.coreHash=" + hash
	if changed != "" {
		flags += " -X 'eventide/props/lanes/interleave.changedSources=" + changed + "'"
	}
	bin = filepath.Join(l.Dir, "lane")
	return bin, l.goBuild(bin, append(overlay.BuildFlags(file), "-tags=interleave", flags)...)
}

// overlay writes the overlay of the Go distribution, with the changed files, which are in
// the directory changed, and returns the path of the file for go build.
func (l Lane) overlay(changed string) (string, error) {
	env, err := exec.Command("go", "env", "GOROOT", "GOVERSION", "GOMODCACHE").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	words := strings.Split(string(env), "\n")
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = l.Dir
	}
	path, err := overlay.Make(words[0], words[1], filepath.Join(cache, "interleave"))
	if err != nil || changed == "" {
		return path, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var all struct{ Replace map[string]string }
	if err := json.Unmarshal(data, &all); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	root, err := filepath.Abs(l.Root)
	if err != nil {
		return "", err
	}
	for name := range maps.Keys(l.Changed) {
		all.Replace[filepath.Join(root, filepath.FromSlash(name))] = changedFile(changed, name)
	}
	if data, err = json.Marshal(all); err != nil {
		return "", err
	}
	path = filepath.Join(l.Dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o644)
}

// changedFile is the path of a changed file. Its suffix keeps it out of the packages of
// the module.
func changedFile(dir, name string) string {
	return filepath.Join(dir, filepath.FromSlash(name)+".txt")
}

// keepChanged writes the changed files and returns the directory: they are built, and a
// trace shows the lines that ran. Without any it is "".
func (l Lane) keepChanged() (string, error) {
	if len(l.Changed) == 0 {
		return "", nil
	}
	dir := filepath.Join(l.Dir, "changed")
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	for name, text := range l.Changed {
		path := changedFile(dir, name)
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

// unwatched are the packages that are built without the race detector, to save time: they
// judge, choose schedules and keep the log, and are not the subject. The harness, package
// props, must be built with it: core's generic types are compiled where they are
// instantiated, which is there.
var unwatched = []string{"eventide/props/history", "eventide/props/lanes/interleave", "eventide/props/interleave/inprocess"}

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
// go build inside the test reads. (CoreHash opens core's sources.)
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
