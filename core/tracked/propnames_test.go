package tracked

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPropCountedNames: the functions that Running does not list alone are counted by name, the most frequent first and those
// of one number by name. At most 100 names are listed, and the others are counted. No functions have no text.
func TestPropCountedNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.IntRange(1, rapid.SampledFrom([]int{1, 3, 130}).Draw(t, "names"))
		var all []*function
		counts := map[string]int{}
		n, differ := rapid.SampledFrom([]int{0, 1, 2, 9, 300}).Draw(t, "functions"), rapid.Bool().Draw(t, "each with its own name")
		if differ {
			n = rapid.IntRange(98, 103).Draw(t, "names and functions")
		}
		for i := range n {
			name := fmt.Sprint("f", i+2)
			if !differ {
				name = fmt.Sprint("f", names.Draw(t, "name"))
			}
			if name == "f1" {
				name = ""
			}
			all = append(all, &function{name: name})
			if name == "" {
				name = "a function without a name"
			}
			counts[name]++
		}
		want := ""
		if len(all) > 0 {
			want = fmt.Sprintf("and %d more: %s\n", len(all), strings.Join(wantParts(counts, len(all)), ", "))
		}
		if got := countNames(all); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// wantParts returns the parts of the text. No count is more than most.
func wantParts(counts map[string]int, most int) (parts []string) {
	for n := most; n > 0; n-- {
		var same []string
		for name, count := range counts {
			if count == n {
				same = append(same, name)
			}
		}
		slices.Sort(same)
		for _, name := range same {
			parts = append(parts, fmt.Sprintf("%d of %s", n, name))
		}
	}
	switch more := len(parts) - 100; {
	case more == 1:
		parts = append(parts[:100], "1 other name")
	case more > 1:
		parts = append(parts[:100], fmt.Sprintf("%d other names", more))
	}
	return parts
}
