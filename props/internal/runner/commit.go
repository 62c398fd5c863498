package runner

import (
	"os/exec"
	"strings"
)

// Commit is the commit of the repository at root, with "+changes" if the tree differs from
// it. It is "unknown" outside of a repository.
func Commit(root string) string {
	cmd := exec.Command("git", "describe", "--always", "--dirty=+changes", "--abbrev=40", "--exclude=*")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
