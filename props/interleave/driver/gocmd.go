package driver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"eventide/props/interleave/overlay"
)

// A toolchain is the go command that a directory selects, with its environment.
type toolchain struct {
	dir     string
	name    string   // of the go command
	env     []string // of the process, without any request to a controlled process
	Root    string   `json:"GOROOT"`
	Version string   `json:"GOVERSION"`
	OS      string   `json:"GOOS"`
	Arch    string   `json:"GOARCH"`
	Cgo     string   `json:"CGO_ENABLED"`
	Cache   string   `json:"GOMODCACHE"`
	Flags   string   `json:"GOFLAGS"`
}

func findToolchain(dir string) (*toolchain, error) {
	t := &toolchain{dir: dir, name: "go", env: os.Environ()}
	out, err := t.run("env", "-json", "GOROOT", "GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED", "GOMODCACHE", "GOFLAGS")
	if err != nil {
		return nil, inputError("go env: %w", err)
	}
	if err := json.Unmarshal(out, t); err != nil {
		return nil, inputError("go env: %w", err)
	}
	if err := t.checkFlags(); err != nil {
		return nil, err
	}
	links, err := cacheDir("root")
	if err != nil {
		return nil, err
	}
	root, err := overlay.Root(t.Root, t.Cache, links)
	if err != nil {
		return nil, inputError("%w", err)
	}
	if root != t.Root {
		t.Root = root
		t.name, t.env = overlay.RootEnv(root, t.env)
	}
	return t, nil
}

// supported fails for a system whose programs are not controlled.
func (t *toolchain) supported() error {
	if t.OS == "linux" && (t.Arch == "amd64" || t.Arch == "arm64") {
		return nil
	}
	return inputError("%s/%s is not supported: the supported systems are linux/amd64, and linux/arm64 without tests", t.OS, t.Arch)
}

// checkFlags refuses flags of GOFLAGS that have no meaning under chosen schedules.
func (t *toolchain) checkFlags() error {
	for _, word := range strings.Fields(t.Flags) {
		name, _, _ := strings.Cut(strings.TrimLeft(strings.Trim(word, `'"`), "-"), "=")
		switch name {
		case "race":
			return inputError("GOFLAGS has -race: give it to interleave instead")
		case "overlay", "cover", "covermode", "coverpkg", "msan", "asan", "exec", "toolexec", "c", "o":
			return inputError("GOFLAGS has -%s: it has no meaning under chosen schedules", name)
		}
	}
	return nil
}

// command returns the go command with args, run in the toolchain's directory.
func (t *toolchain) command(args ...string) *exec.Cmd {
	cmd := exec.Command(t.name, args...)
	cmd.Dir, cmd.Env = t.dir, t.env
	return cmd
}

// run returns the standard output of the go command. The error holds what the
// command wrote to standard error.
func (t *toolchain) run(args ...string) ([]byte, error) {
	cmd := t.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(errs.String())
		if text == "" {
			text = err.Error()
		}
		return nil, fmt.Errorf("%s", text)
	}
	return out.Bytes(), nil
}

// cacheDir returns a directory below the tool's cache, made if it is not there.
// INTERLEAVE_CACHE names another cache.
func cacheDir(parts ...string) (string, error) {
	root := os.Getenv("INTERLEAVE_CACHE")
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", inputError("no cache directory: %w; set INTERLEAVE_CACHE", err)
		}
		root = filepath.Join(user, "interleave")
	}
	dir := filepath.Join(append([]string{root}, parts...)...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", inputError("the cache cannot be written: %w; set INTERLEAVE_CACHE", err)
	}
	probe, err := os.CreateTemp(dir, "probe")
	if err != nil {
		return "", inputError("the cache cannot be written: %w; set INTERLEAVE_CACHE", err)
	}
	probe.Close()
	return dir, os.Remove(probe.Name())
}

// keptFor is how long files of the cache stay after their last use.
const keptFor = 10 * 24 * time.Hour

// trimCache removes binaries and replay files that were not used for long. Errors are
// ignored: another process may remove them at the same time.
func trimCache(now time.Time) {
	for _, part := range []string{"bin", "replays", "planted"} {
		dir, err := cacheDir(part)
		if err != nil {
			return
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			info, err := e.Info()
			if err == nil && now.Sub(info.ModTime()) > keptFor {
				_ = os.RemoveAll(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// use marks an entry of the cache as used.
func use(name string) {
	now := time.Now()
	_ = os.Chtimes(name, now, now) // after an error trimCache removes the entry too early, and it is made again
}
