package props

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"eventide/props/history"
)

// causes are the causes of failures in this process, each with the case that shows it
// best: the first one, which was minimised. A later failure with the same cause names
// that case instead of repeating the report. A process is the test binary of one package;
// go test has no way for packages to share more.
type causes struct {
	mu    sync.Mutex
	cases map[string]string // by Violation.Cause
}

var failedBefore causes

// known returns the case of a cause.
func (c *causes) known(v history.Violation) (path string, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path, known = c.cases[v.Cause()]
	return path, known
}

// add stores the path as the case of each cause that has none.
func (c *causes) add(path string, violations ...history.Violation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cases == nil {
		c.cases = map[string]string{}
	}
	for _, v := range violations {
		if _, known := c.cases[v.Cause()]; !known {
			c.cases[v.Cause()] = path
		}
	}
}

// again returns the line of a failure whose cause is known.
func again(v history.Violation, path string) string {
	return history.Clip(v.String()) + ": the same cause as that of " + path
}

// maxFailure bounds, in bytes, what one failure prints.
const maxFailure = 6 << 10

// bounded returns the text. If it is too long, it returns the most important part, and
// writes the whole text to a file beside the case.
func bounded(text, casePath string) string {
	short, left := history.Bound(text, maxFailure)
	if left == 0 {
		return short
	}
	all := strings.TrimSuffix(casePath, filepath.Ext(casePath)) + ".txt"
	if err := os.WriteFile(all, []byte(text), 0o644); err != nil {
		return fmt.Sprintf("%s%d lines are left out (%v)\n", short, left, err)
	}
	return fmt.Sprintf("%s%d lines are left out, which are in %s\n", short, left, all)
}
