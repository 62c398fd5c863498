package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// availableMiB is half of the memory that the system could give a process now, or 0 if
// it does not say.
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
