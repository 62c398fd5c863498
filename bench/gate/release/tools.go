package release

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"eventide/bench/gate/measure"
)

// A tool counts something in a process from outside.
type tool struct {
	metric  string
	command []string
	count   func(stderr []byte) (float64, error)
	missing string // why it cannot be run; empty: it can
}

// newTools returns the tools, and for each that cannot run here the reason.
func newTools() []tool {
	tools := []tool{
		{metric: metricSyscalls, command: []string{"strace", "-f", "-c", "-S", "calls"}, count: countSyscalls},
		{metric: metricInstructions, command: []string{"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"}, count: countInstructions},
	}
	for i, t := range tools {
		if _, err := exec.LookPath(t.command[0]); err != nil {
			tools[i].missing = t.command[0] + " is not installed"
			continue
		}
		trial := append(append([]string{}, t.command...), "true")
		if out, err := exec.Command(trial[0], trial[1:]...).CombinedOutput(); err != nil {
			tools[i].missing = fmt.Sprintf("%s does not work here: %v: %s", t.command[0], err, measure.Tail(out))
		}
	}
	return tools
}

// runtimeCalls are the system calls of Go's scheduler and memory manager, whose number
// depends on the moment. The calls of the loop itself are not among them.
var runtimeCalls = map[string]bool{
	"futex": true, "nanosleep": true, "sched_yield": true, "tgkill": true, "getpid": true,
	"rt_sigreturn": true, "rt_sigprocmask": true, "rt_sigaction": true, "sigaltstack": true,
	"madvise": true, "mmap": true, "munmap": true, "clone": true, "clone3": true, "gettid": true,
	"restart_syscall": true, "exit": true, "exit_group": true, "total": true,
}

// countSyscalls adds up the table that strace -c prints:
//
//	% time     seconds  usecs/call     calls    errors syscall
func countSyscalls(stderr []byte) (float64, error) {
	total, rows, inTable := 0.0, 0, false
	lines := bufio.NewScanner(bytes.NewReader(stderr))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) < 5:
			continue
		case fields[0] == "%":
			inTable = true
			continue
		case !inTable:
			continue
		}
		calls, err := strconv.ParseFloat(fields[3], 64)
		if err != nil {
			continue // the ruler
		}
		rows++
		if !runtimeCalls[fields[len(fields)-1]] {
			total += calls
		}
	}
	if rows == 0 {
		return 0, fmt.Errorf("no table of system calls in %q", measure.Tail(stderr))
	}
	return total, lines.Err()
}

var collected = regexp.MustCompile(`Collected : (\d+)`)

// countInstructions reads callgrind's only figure.
func countInstructions(stderr []byte) (float64, error) {
	m := collected.FindSubmatch(stderr)
	if m == nil {
		return 0, fmt.Errorf("no count of instructions in %q", measure.Tail(stderr))
	}
	return strconv.ParseFloat(string(m[1]), 64)
}
