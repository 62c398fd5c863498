package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Tests is the test binary of one package.
type Tests struct {
	Root    string   // of the module
	Package string   // from Root: "core"
	Bin     string   // where the binary goes
	Overlay string   // for the go command; "": none
	Args    []string // more arguments of go test, such as -race
}

// Build builds the binary and returns its absolute path. An error has the output of the go
// command. A package without tests is an error: a binary that runs nothing shows nothing.
func (t Tests) Build() (bin string, err error) {
	if bin, err = filepath.Abs(t.Bin); err != nil {
		return "", err
	}
	args := append([]string{"test", "-c", "-vet=off", "-o", bin}, t.Args...)
	if t.Overlay != "" {
		args = append(args, "-overlay", t.Overlay)
	}
	if err := Go(t.Root, append(args, "./"+t.Package)...); err != nil {
		return "", err
	}
	if _, err := os.Stat(bin); err != nil {
		return "", fmt.Errorf("%s has no tests", t.Package)
	}
	return bin, nil
}

// Go runs the go command in root. An error has the command's arguments and its output.
func Go(root string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// Overlay writes the changed files of the module at root to dir, with an overlay.json for go
// build -overlay, and returns the path of that. changed has the texts by their path from root.
func Overlay(root, dir string, changed map[string]string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range changed {
		path := filepath.Join(dir, strings.ReplaceAll(file, "/", "_")+".txt") // not .go: the go command would see it
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = path
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o644)
}
