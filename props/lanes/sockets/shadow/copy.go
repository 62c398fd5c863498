package shadow

import (
	"fmt"
	"os"
	"path/filepath"
)

// parts are the directories and files of the module that the tests of packages sockets and exits need.
var parts = []string{"go.mod", "go.sum", "core", "internal", "props/internal/runner", "props/lane", "props/lanes/programs", "props/lanes/sockets", "props/lanes/exits"}

// Copy writes a module to dir, which must not exist or be empty: the parts of the module at root
// that the tests of packages sockets and exits need, with the texts of Changed. A tool that has an overlay of
// its own can build these tests there.
func Copy(root, dir string, changed map[string]string) error {
	texts, err := Changed(root, changed)
	if err != nil {
		return err
	}
	return CopyReal(root, dir, texts)
}

// CopyReal is Copy with the given texts alone, so the packages of core run on the real kernel there.
func CopyReal(root, dir string, texts map[string]string) error {
	for _, part := range parts {
		if err := copyPart(filepath.Join(root, filepath.FromSlash(part)), filepath.Join(dir, filepath.FromSlash(part))); err != nil {
			return fmt.Errorf("shadow: copy %s: %w", part, err)
		}
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func copyPart(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
