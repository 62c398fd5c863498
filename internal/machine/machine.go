// Package machine says what measurements were made on, and of which sources: every
// report carries it.
package machine

import (
	"os"
	"os/exec"
	"strings"
)

// Unknown stands for what this machine does not tell.
const Unknown = "unknown"

// Commit names the sources of the current directory by git, with "-dirty" if they
// differ from it.
func Commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*").Output()
	if err != nil {
		return Unknown
	}
	return strings.TrimSpace(string(out))
}

// CPU returns the processor's name.
func CPU() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return Unknown
	}
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return Unknown
}

// Kernel returns the kernel's name and release, such as "Linux 6.18".
func Kernel() string {
	name, err := os.ReadFile("/proc/sys/kernel/ostype")
	if err != nil {
		return Unknown
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return Unknown
	}
	return strings.TrimSpace(string(name)) + " " + strings.TrimSpace(string(release))
}
