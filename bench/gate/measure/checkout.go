package measure

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

// A Checkout has two versions of a module: the working tree, which is head, and a commit,
// which is base, in a git worktree. It is used by one goroutine.
type Checkout struct {
	New string // directory of the module in the working tree: head
	Old string // directory of the module in the worktree: base
	Dir string // temporary directory for what is built
	Go  string // version of the toolchain that builds both

	worktree string
	moves    int
}

// Open checks out the commit base of the repository that has the module in dir. The caller must
// Close the result.
func Open(ctx context.Context, dir, base string) (_ *Checkout, err error) {
	head, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(head, "go.mod")); err != nil {
		return nil, fmt.Errorf("the directory is %q, want that of a module: %w", dir, err)
	}
	c := &Checkout{New: head}
	prefix, err := c.Command(ctx, head, "git", "rev-parse", "--show-prefix")
	if err != nil {
		return nil, fmt.Errorf("the module is in no git repository: %w", err)
	}
	if _, err := c.Command(ctx, head, "git", "rev-parse", "--verify", "--quiet", base+"^{commit}"); err != nil {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("base is %q, want a commit of this repository (a shallow clone has only the last one)", base))
	}
	if c.Dir, err = os.MkdirTemp("", "gate-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.Go, err = c.Command(ctx, head, "go", "env", "GOVERSION"); err != nil {
		return nil, err
	}
	c.worktree = filepath.Join(c.Dir, "base")
	c.Old = filepath.Join(c.worktree, filepath.FromSlash(prefix))
	_, err = c.Command(ctx, head, "git", "worktree", "add", "--detach", c.worktree, base)
	return c, err
}

// Close removes the files that Open and Build have made. It has a context of its own, so that it
// also works after an interrupt.
func (c *Checkout) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	if _, statErr := os.Stat(c.worktree); c.worktree != "" && statErr == nil {
		_, err = c.Command(ctx, c.New, "git", "worktree", "remove", "--force", c.worktree)
	}
	return errors.Join(err, os.RemoveAll(c.Dir))
}

// Move checks out another commit instead of base. Binaries that were built before remain.
func (c *Checkout) Move(ctx context.Context, commit string) error {
	c.moves++
	_, err := c.Command(ctx, c.worktree, "git", "checkout", "--quiet", "--detach", "--force", commit)
	return err
}

// Commits returns the commits after base up to the last one of head, oldest first.
func (c *Checkout) Commits(ctx context.Context) ([]string, error) {
	base, err := c.Command(ctx, c.worktree, "git", "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	list, err := c.Command(ctx, c.New, "git", "rev-list", "--reverse", "--first-parent", base+"..HEAD")
	return strings.Fields(list), err
}

// Describe names the commits of base and of head; that of head ends in "-dirty" if the
// working tree differs from it.
func (c *Checkout) Describe(ctx context.Context) (base, head string, err error) {
	base, err = c.Command(ctx, c.worktree, "git", "rev-parse", "HEAD")
	if err != nil {
		return "", "", err
	}
	head, err = c.Command(ctx, c.New, "git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
	return base, head, err
}

// BaseContains reports whether a commit is base or one of its ancestors.
func (c *Checkout) BaseContains(ctx context.Context, commit string) (bool, error) {
	if _, err := c.Command(ctx, c.worktree, "git", "rev-parse", "--verify", commit+"^{commit}"); err != nil {
		return false, err
	}
	_, err := c.Command(ctx, c.worktree, "git", "merge-base", "--is-ancestor", commit, "HEAD")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// Command runs a command in dir, with the toolchain of the checkout, and returns its standard
// output, trimmed. The error has the end of what the command printed.
func (c *Checkout) Command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = os.Environ()
	if c.Go != "" {
		cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+c.Go)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, Tail(append(stdout.Bytes(), stderr.Bytes()...)))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// Tail returns the last 2000 bytes of an output, trimmed: the reason of a failure is at the end.
func Tail(output []byte) string {
	const most = 2000
	text := strings.TrimSpace(string(output))
	if len(text) > most {
		text = "..." + text[len(text)-most:]
	}
	return text
}
