package driver

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// procStat is what /proc says of a process or a thread.
type procStat struct {
	name  string
	state byte // R for running, S for asleep, Z for a zombie
	ppid  int
}

func readStat(name string) (procStat, bool) {
	b, err := os.ReadFile(name)
	if err != nil {
		return procStat{}, false // it has ended
	}
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')') // the name between them may have any character
	if open < 0 || end < open || end+2 >= len(b) {
		return procStat{}, false
	}
	fields := bytes.Fields(b[end+1:])
	if len(fields) < 2 {
		return procStat{}, false
	}
	ppid, err := strconv.Atoi(string(fields[1]))
	return procStat{string(b[open+1 : end]), fields[0][0], ppid}, err == nil
}

// childOf returns the name of a process that pid has started and that has not ended; ""
// if there is none.
func childOf(pid int) string {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return ""
	}
	for _, name := range stats {
		if s, ok := readStat(name); ok && s.ppid == pid && s.state != 'Z' {
			return s.name
		}
	}
	return ""
}

// threadRuns says whether a thread of the process has a processor or waits for one.
func threadRuns(pid int) bool {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/stat", pid))
	if err != nil {
		return false
	}
	for _, name := range stats {
		if s, ok := readStat(name); ok && s.state == 'R' {
			return true
		}
	}
	return false
}
