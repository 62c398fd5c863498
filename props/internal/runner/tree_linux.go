package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// descendants returns the processes that pid has started, and those that they have
// started, by their names. A process whose parent has ended is not among them.
func descendants(pid int) map[int]string {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	type child struct {
		pid  int
		name string
	}
	children := map[int][]child{}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')') // the name may have any character
		if open < 0 || end < open {
			continue
		}
		one, err := strconv.Atoi(string(bytes.TrimSpace(text[:open])))
		fields := bytes.Fields(text[end+1:])
		if err != nil || len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(string(fields[1])); err == nil {
			children[parent] = append(children[parent], child{one, string(text[open+1 : end])})
		}
	}
	all := map[int]string{}
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		for _, c := range children[next[0]] {
			all[c.pid] = c.name
			next = append(next, c.pid)
		}
	}
	return all
}

// killTree kills a process and its descendants. All are stopped before: a process whose
// parent was killed is nobody's descendant, and one that runs may start others.
func killTree(pid int) {
	_ = syscall.Kill(pid, syscall.SIGSTOP) // each of these may have ended meanwhile
	stopped := map[int]bool{pid: true}
	for found := true; found; {
		found = false
		for one := range descendants(pid) {
			if !stopped[one] {
				stopped[one], found = true, true
				_ = syscall.Kill(one, syscall.SIGSTOP)
			}
		}
	}
	for one := range stopped {
		_ = syscall.Kill(one, syscall.SIGKILL)
	}
}
