// Package overlay makes overlays of the Go distribution for go test -overlay. A test
// binary that is built with one is controlled: its goroutines take turns, in an order
// that package protocol's request determines.
//
// An overlay consists of edited copies of files of the distribution, and of new files.
// The distribution itself and the module cache stay as they are.
package overlay

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed files/*.go.txt
var files embed.FS

// Supported returns the Go releases that Make knows, as go1.26.
func Supported() []string { return slices.Sorted(maps.Keys(own)) }

// release returns the release of a version: go1.26 of go1.26.8, of go1.26rc1 and of
// "go1.26.8 X:experiment". It fails for a release that is not supported.
func release(version string) (string, error) {
	for name := range own {
		rest, ok := strings.CutPrefix(version, name)
		if ok && (rest == "" || rest[0] < '0' || rest[0] > '9') {
			return name, nil
		}
	}
	return "", fmt.Errorf("overlay: Go release %q is not supported; the supported releases are %s", version, strings.Join(Supported(), ", "))
}

// Make writes the overlay for the distribution in goroot, whose version is as go env
// GOVERSION prints it, into a folder below dir, and returns the name of the JSON file
// for -overlay. The folder's name contains a hash of its contents. If the folder exists,
// Make leaves it as it is, so dir may be read-only then. Several processes may call Make
// for one dir at once.
//
// Make fails for a release that is not supported, for an edit whose place is missing or
// ambiguous, naming file, function and release, and if the folder cannot be written.
func Make(goroot, version, dir string) (string, error) {
	name, err := release(version)
	if err != nil {
		return "", err
	}
	return MakeLike(goroot, name, dir)
}

// MakeLike is Make for a distribution of any version, with the edits of a supported
// release: it tries a release that has no list of its own. The error names every place
// that is missing.
func MakeLike(goroot, name, dir string) (string, error) {
	if _, ok := own[name]; !ok {
		return "", fmt.Errorf("overlay: Go release %q is not supported; the supported releases are %s", name, strings.Join(Supported(), ", "))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	src := filepath.Join(goroot, "src")
	texts, err := edited(src, append(slices.Clone(shared), own[name]...))
	if err != nil {
		return "", fmt.Errorf("overlay: the edits of %s in %s: %w", name, goroot, err)
	}
	if err := added(texts, name); err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	return store(texts, src, dir, name)
}

// edited returns the edited files of the distribution by name below src.
func edited(src string, edits []edit) (map[string][]byte, error) {
	texts := map[string][]byte{}
	read := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(src, filepath.FromSlash(name))) }
	more, err := mapEdits(read)
	if err != nil {
		return nil, err
	}
	byFile := map[string][]edit{}
	for _, e := range append(edits, more...) {
		byFile[e.file] = append(byFile[e.file], e)
	}
	var missing []error
	change := func(name string, how func([]byte) ([]byte, error)) {
		b, err := read(name)
		if err == nil {
			texts[name], err = how(b)
		}
		missing = append(missing, err)
	}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		change(name, func(b []byte) ([]byte, error) { return apply(name, b, byFile[name]) })
	}
	for _, name := range atomicFiles {
		change(name, func(b []byte) ([]byte, error) { return wrapAtomics(name, b) })
	}
	for _, r := range renames {
		change(r.file, func(b []byte) ([]byte, error) {
			if !r.from.Match(b) {
				return nil, fmt.Errorf("%s: there is no %s", r.file, r.from)
			}
			return r.from.ReplaceAll(b, []byte(r.to)), nil
		})
	}
	return texts, errors.Join(missing...)
}

// added enters the new files. A file runtime_x.go.txt becomes part of package runtime,
// and so on; point.go.txt becomes part of every package that has points. A file whose
// name ends with a release belongs to that release alone.
func added(texts map[string][]byte, release string) error {
	list, err := files.ReadDir("files")
	if err != nil {
		return err
	}
	for _, entry := range list {
		b, err := files.ReadFile("files/" + entry.Name())
		if err != nil {
			return err
		}
		base := strings.TrimSuffix(entry.Name(), ".go.txt")
		if stem, only, ok := strings.Cut(base, "-"); ok {
			if only != release {
				continue
			}
			base = stem
		}
		pkg, idea, _ := strings.Cut(base, "_")
		switch pkg {
		case "point":
			for dir, name := range map[string]string{"sync": "sync", "internal/sync": "sync", "sync/atomic": "atomic"} {
				texts[dir+"/zilv_point.go"] = []byte(strings.Replace(string(b), "package PACKAGE", "package "+name, 1))
			}
		case "maps":
			texts["internal/runtime/maps/zilv_"+idea+".go"] = b
		case "poll":
			texts["internal/poll/zilv_"+idea+".go"] = b
		default:
			texts[pkg+"/zilv_"+idea+".go"] = b
		}
	}
	return nil
}

// store writes the texts into a folder below dir, unless it exists.
func store(texts map[string][]byte, src, dir, release string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, src)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintln(sum, name, len(texts[name]))
		sum.Write(texts[name])
	}
	folder := filepath.Join(dir, fmt.Sprintf("%s-%x", release, sum.Sum(nil)[:8]))
	result := filepath.Join(folder, "overlay.json")
	if _, err := os.Stat(result); err == nil {
		return result, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("overlay: the folder for overlays cannot be made: %w", err)
	}
	tmp, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return "", fmt.Errorf("overlay: the folder for overlays cannot be written: %w", err)
	}
	defer os.RemoveAll(tmp)
	replaced := map[string]string{}
	for name, text := range texts {
		file := strings.ReplaceAll(name, "/", "_")
		if err := os.WriteFile(filepath.Join(tmp, file), text, 0o444); err != nil {
			return "", fmt.Errorf("overlay: %w", err)
		}
		replaced[filepath.Join(src, filepath.FromSlash(name))] = filepath.Join(folder, file)
	}
	b, err := json.MarshalIndent(map[string]any{"Replace": replaced}, "", "\t")
	if err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	if err := os.WriteFile(filepath.Join(tmp, "overlay.json"), b, 0o444); err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	if err := os.Rename(tmp, folder); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, stat := os.Stat(result); stat != nil {
			return "", fmt.Errorf("overlay: %w", err)
		}
	}
	return result, nil
}

// BuildFlags returns the flags for go build and go test that build a controlled binary
// with the overlay that Make returned. Atomic operations become calls, so the
// scheduler sees those of the program and its dependencies.
func BuildFlags(overlay string) []string {
	const calls = "-d=ssa/intrinsics/off"
	return []string{"-overlay=" + overlay, "-gcflags=all=" + calls, "-gcflags=std=", "-gcflags=sync/atomic=" + calls}
}
