package main

import (
	"fmt"
	"strings"
)

// shortCount is how many mutants -short runs.
const shortCount = 12

// shortRule is which mutants -short runs, by the part of the module that they change:
// more than half change core itself, and no part is left out. They are quick to build
// and to find, on a busy machine too, and of every lane but that of the race detector,
// which takes too long.
var shortRule = []struct {
	area  string
	names []string
}{
	{"core", []string{
		"g5-full-before-closed", "g10-quiet-zero-waits", "g21-next-skips-the-last", "g24-deadline-left-running", // virtual
		"g12-announce-after-unlock",                           // interleave
		"g9-double-completion", "g13-premature-never-rebuilt", // test
	}},
	{"core/tcp", []string{"tcp-high-mark-is-reached"}},
	{"core/blocking", []string{"blocking-piece-in-flight-moves"}},
	{"core/process", []string{"process-stuck-step-starves"}},
	{"props", []string{"check-s2-never-ran-is-fine", "coverage-pct-sure-of-what-it-cannot-change"}},
}

func shortNames() (names []string) {
	for _, r := range shortRule {
		names = append(names, r.names...)
	}
	return names
}

// shortShares says how many of each part there are.
func shortShares() string {
	var shares []string
	for _, r := range shortRule {
		shares = append(shares, fmt.Sprintf("%d of %s", len(r.names), r.area))
	}
	return strings.Join(shares, ", ")
}
