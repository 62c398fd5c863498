package driver

import "strings"

// leastOwn is the least number of rows of the module for which rows of other modules are
// left out.
const leastOwn = 3

// keepOwn leaves out rows of source files that are not below root, the directory of the
// module: what a dependency does says little about a test. Rows at which a goroutine was
// interrupted or waits for ever stay. All rows stay if the module has fewer than
// leastOwn rows of its own.
func (t *timeline) keepOwn(root string) {
	if root == "" {
		return
	}
	moved := map[string]bool{}
	own := func(r row) bool { return strings.HasPrefix(r.file, root+"/") }
	mine := 0
	for _, r := range t.rows {
		if own(r) {
			mine++
		}
		if r.moved {
			moved[rowPlace(r)] = true
		}
	}
	if mine < leastOwn {
		return
	}
	kept := t.rows[:0]
	for _, r := range t.rows {
		if own(r) || moved[rowPlace(r)] || r.note == waitsForEver {
			kept = append(kept, r)
			continue
		}
		t.others++
	}
	t.rows = kept
}

// rowPlace is a source line of a goroutine.
func rowPlace(r row) string { return itoa(r.g) + " " + r.file + ":" + itoa(r.line) }
