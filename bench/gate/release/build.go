package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A workspace is what a run of the gate needs on disk, in one temporary directory.
type workspace struct {
	root      string // of the module: head
	dir       string
	worktree  string // base
	toolchain string

	workloads string // whose workloads measure base
}

// The names of workloads in the report.
const (
	workloadsHead = "head's on both sides"
	workloadsOwn  = "each side its own: head's do not build with base's core"
)

// openWorkspace checks base out.
func openWorkspace(ctx context.Context, root, base string) (_ *workspace, err error) {
	w := &workspace{root: root}
	if w.dir, err = os.MkdirTemp("", "gate-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.toolchain, err = w.command(ctx, root, "go", "env", "GOVERSION"); err != nil {
		return nil, err
	}
	if _, err := w.command(ctx, root, "git", "rev-parse", "--verify", "--quiet", base+"^{commit}"); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("base is %q, want a commit of this repository", base)
	}
	w.worktree = filepath.Join(w.dir, "base")
	_, err = w.command(ctx, root, "git", "worktree", "add", "--detach", w.worktree, base)
	return w, err
}

// close removes everything. It does so after an interrupt too, and therefore has a
// context of its own.
func (w *workspace) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	if _, statErr := os.Stat(w.worktree); w.worktree != "" && statErr == nil {
		_, err = w.command(ctx, w.root, "git", "worktree", "remove", "--force", w.worktree)
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

// command runs one and returns its output, trimmed.
func (w *workspace) command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = os.Environ()
	if w.toolchain != "" {
		cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+w.toolchain)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, tail(append(stdout.Bytes(), stderr.Bytes()...)))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// build compiles the test binary of package bench of the module in dir. -trimpath
// keeps the directory out of it: equal sources give equal binaries.
func (w *workspace) build(ctx context.Context, dir, name, overlay string) (binary, error) {
	b := binary{path: filepath.Join(w.dir, name), dir: filepath.Join(w.root, "bench")}
	args := []string{"test", "-c", "-trimpath", "-buildvcs=false", "-o", b.path}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	_, err := w.command(ctx, dir, "go", append(args, "./bench")...)
	return b, err
}

func (w *workspace) buildHead(ctx context.Context) (binary, error) {
	return w.build(ctx, w.root, "head.test", "")
}

func (w *workspace) buildPlanted(ctx context.Context) (binary, error) {
	overlay, err := plant(w.root, w.dir)
	if err != nil {
		return binary{}, err
	}
	return w.build(ctx, w.root, "planted.test", overlay)
}

// buildBase puts head's package bench in the place of base's, so that both are
// measured by the same code, and only if that does not build leaves base's own.
func (w *workspace) buildBase(ctx context.Context) (binary, error) {
	overlay, err := w.transplant()
	if err != nil {
		return binary{}, err
	}
	w.workloads = workloadsHead
	b, err := w.build(ctx, w.worktree, "base.test", overlay)
	if err == nil || ctx.Err() != nil {
		return b, err
	}
	w.workloads = workloadsOwn
	return w.build(ctx, w.worktree, "base.test", "")
}

func (w *workspace) transplant() (overlay string, err error) {
	replace := map[string]string{}
	for _, side := range []string{w.worktree, w.root} { // head's come last and win
		paths, err := filepath.Glob(filepath.Join(side, "bench", "*.go"))
		if err != nil {
			return "", err
		}
		for _, path := range paths {
			at := filepath.Join(w.worktree, "bench", filepath.Base(path))
			replace[at] = "" // gone
			if side == w.root {
				replace[at] = path
			}
		}
	}
	return writeOverlay(filepath.Join(w.dir, "transplant.json"), replace)
}

// describe names the commit of a directory, with "-dirty" if it differs from it.
func (w *workspace) describe(ctx context.Context, dir string) (string, error) {
	return w.command(ctx, dir, "git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
}

// baseContains tells whether a commit is part of base.
func (w *workspace) baseContains(ctx context.Context) func(commit string) (bool, error) {
	return func(commit string) (bool, error) {
		if _, err := w.command(ctx, w.worktree, "git", "rev-parse", "--verify", commit+"^{commit}"); err != nil {
			return false, err
		}
		_, err := w.command(ctx, w.worktree, "git", "merge-base", "--is-ancestor", commit, "HEAD")
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 {
			return false, nil
		}
		return err == nil, err
	}
}
