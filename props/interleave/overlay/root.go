package overlay

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Root returns the name by which the go command accepts an overlay of the distribution
// in goroot. The go command refuses overlays of files below the module cache, and keeps
// the toolchains there that it downloads. For such a toolchain, Root returns a symbolic
// link below dir, otherwise goroot itself. The link is made if it does not exist.
//
// Make and the go command have to use one name: run the command that RootEnv says.
func Root(goroot, modcache, dir string) (string, error) {
	below, err := filepath.Rel(modcache, goroot)
	if err != nil || below == ".." || strings.HasPrefix(below, ".."+string(filepath.Separator)) {
		return goroot, nil
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	sum := sha256.Sum256([]byte(goroot))
	link := filepath.Join(dir, fmt.Sprintf("root-%x", sum[:8]))
	if to, err := os.Readlink(link); err == nil && to == goroot {
		return link, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("overlay: the folder for overlays cannot be made: %w", err)
	}
	if err := os.Symlink(goroot, link); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("overlay: the folder for overlays cannot be written: %w", err)
	}
	return link, nil
}

// RootEnv returns the go command of a distribution that Root named, and base with the
// variables that make the command use it.
func RootEnv(root string, base []string) (command string, env []string) {
	return filepath.Join(root, "bin", "go"), append(base[:len(base):len(base)], "GOROOT="+root, "GOTOOLCHAIN=local")
}
