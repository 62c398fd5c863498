package runner

import (
	"os/exec"
	"strings"
)

// Commit is the commit of the repository at root, with "+changes" if a tracked file differs
// from it, except those at the given paths from root. It is "unknown" outside of a repository.
func Commit(root string, except ...string) string {
	rev, err := git(root, "rev-parse", "HEAD")
	if err != nil {
		return "unknown"
	}
	args := []string{"status", "--porcelain", "--untracked-files=no", "--", ":(top)"}
	for _, path := range except {
		args = append(args, ":(exclude)"+path)
	}
	if changes, err := git(root, args...); err != nil || changes != "" {
		return rev + "+changes"
	}
	return rev
}

func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
