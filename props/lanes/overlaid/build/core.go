package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// packages are those of core whose schedules the lane explores. The epoll pollers are
// linked in and never run: the lane's loops sleep on the park poller, or on the scripted
// poller of package props.
var packages = []string{"./core", "./core/internal/poll", "./core/internal/tasks"}

// CoreFiles returns the source files that the lane explores, as paths from the root of
// the module, in order.
func CoreFiles(root string) (files []string, err error) {
	cmd := exec.Command("go", append([]string{"list", "-json=Dir,GoFiles"}, packages...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir     string
			GoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			slices.Sort(files)
			return files, nil
		} else if err != nil {
			return nil, err
		}
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		for _, name := range p.GoFiles {
			files = append(files, filepath.ToSlash(filepath.Join(dir, name)))
		}
	}
}

// CoreHash names what the lane explores: two trees with the same source files of core,
// with the changed ones in their place, have the same.
func CoreHash(root string, changed map[string]string) (string, error) {
	files, err := CoreFiles(root)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range files {
		text, ok := changed[name]
		if !ok {
			data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
			if err != nil {
				return "", err
			}
			text = string(data)
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}
