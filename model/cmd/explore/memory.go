package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// availableMiB returns half of the memory that is available to a new process, in MiB, or
// 0 if the system does not report it.
func availableMiB() int {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		text, isIt := strings.CutPrefix(lines.Text(), "MemAvailable:")
		if !isIt {
			continue
		}
		kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(text, "kB")))
		if err != nil {
			return 0
		}
		return kib / 1024 / 2
	}
	return 0
}
