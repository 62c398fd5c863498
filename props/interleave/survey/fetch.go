package survey

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Fetch downloads m and copies it to dir, which must not exist. A module without a
// go.mod gets one.
func Fetch(m Module, dir string) error {
	out, err := goCommand("", "mod", "download", "-json", m.Path+"@"+m.Version)
	if err != nil {
		return err
	}
	var at struct{ Dir string }
	if err := json.Unmarshal(out, &at); err != nil {
		return err
	}
	if err := os.CopyFS(dir, os.DirFS(at.Dir)); err != nil {
		return err
	}
	if err := makeWritable(dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return nil
	}
	if _, err := goCommand(dir, "mod", "init", m.Path); err != nil {
		return err
	}
	_, err = goCommand(dir, "mod", "tidy")
	return err
}

// makeWritable undoes the read-only permissions of the module cache.
func makeWritable(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chmod(name, info.Mode()|0o200)
	})
}

// packages returns the packages of the module in dir that have tests and can be loaded,
// and the error of each that cannot.
func (m Module) packages(dir string) (good []string, bad map[string]string, err error) {
	patterns := m.Packages
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	out, err := goCommand(dir, append([]string{"list", "-e", "-json=ImportPath,Error,TestGoFiles,XTestGoFiles", "--"}, patterns...)...)
	if err != nil {
		return nil, nil, err
	}
	bad = map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct {
			ImportPath                string
			Error                     *struct{ Err string }
			TestGoFiles, XTestGoFiles []string
		}
		if err := d.Decode(&p); err != nil {
			return nil, nil, err
		}
		switch {
		case p.Error != nil:
			bad[p.ImportPath] = p.Error.Err
		case len(p.TestGoFiles)+len(p.XTestGoFiles) > 0:
			good = append(good, p.ImportPath)
		}
	}
	return good, bad, nil
}

// settings let the go command complete go.mod and go.sum of a copied module, outside of
// any workspace.
var settings = map[string]string{"GOFLAGS": "-mod=mod", "GOWORK": "off"}

func environ() []string {
	env := os.Environ()
	for key, value := range settings {
		env = append(env, key+"="+value)
	}
	return env
}

func goCommand(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, environ()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, errs.Bytes(), out.Bytes())
	}
	return out.Bytes(), nil
}
