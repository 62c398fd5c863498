package bench

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestEveryCaseRuns runs every workload twice, as small as it goes.
func TestEveryCaseRuns(t *testing.T) {
	for _, g := range Groups([]int{10, registrable(t, 1000)}) {
		for _, c := range g {
			if testing.Short() && c.Tail && !strings.Contains(c.Workload, "load=50/producers=4") {
				continue // the same code with other numbers, and a peak of its own to be measured
			}
			t.Run(c.Name(), func(t *testing.T) {
				r, err := c.Open()
				if err != nil {
					t.Fatal(err)
				}
				checkSlice(t, r, 1)
				checkSlice(t, r, 20)
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func checkSlice(t *testing.T, r Runner, n int) {
	t.Helper()
	s, err := r.Run(n)
	if err != nil {
		t.Fatal(err)
	}
	if s.Ops < 1 || s.Elapsed <= 0 {
		t.Errorf("Run(%d): got %d operations in %v, %d void; want some, in some time", n, s.Ops, s.Elapsed, s.Void)
	}
	if s.Short > 0 {
		t.Errorf("G10: Run(%d): %d quiet periods were short, want none", n, s.Short)
	}
	if s.Latency != nil && s.Quantile(50) > s.Quantile(99) {
		t.Errorf("Run(%d): p50 %v is more than p99 %v", n, s.Quantile(50), s.Quantile(99))
	}
}

// TestNamesAreComplete: a case is compared with one of its own group, under a name
// of its own, and the implementation is the first key.
func TestNamesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range Groups(TimerCounts) {
		for _, c := range g {
			if seen[c.Name()] {
				t.Errorf("two cases are called %s", c.Name())
			}
			seen[c.Name()] = true
		}
		for _, c := range g {
			against := c
			against.Impl = c.Against
			if c.Against != "" && !seen[against.Name()] {
				t.Errorf("%s is compared with %s, which is not in its group", c.Name(), against.Name())
			}
		}
	}
	if want := "Execute/impl=core-bounded/producers=64"; !seen[want] {
		t.Errorf("no case is called %s", want)
	}
}

// TestNamesAreDocumented: doc.go says what every workload, key and implementation is.
func TestNamesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{} // in a column left of their explanation
	columns := regexp.MustCompile(` {2,}`)
	for line := range strings.Lines(string(text)) {
		if row, ok := strings.CutPrefix(line, "//\t"); ok {
			cells := columns.Split(row, -1)
			for _, word := range cells[:len(cells)-1] {
				words[word] = true
			}
		}
	}
	for _, g := range Groups(TimerCounts) {
		for _, c := range g {
			what, keys, _ := strings.Cut(c.Name(), "/")
			want := []string{what, c.Impl}
			for _, pair := range strings.Split(keys, "/") {
				key, _, _ := strings.Cut(pair, "=")
				want = append(want, key)
			}
			for _, word := range want {
				if !words[word] {
					t.Errorf("doc.go does not explain %s, of %s", word, c.Name())
					words[word] = true // once is enough
				}
			}
		}
	}
}

func TestShortWaitsAreCounted(t *testing.T) {
	for took, want := range map[time.Duration]int{quiet - 1: 5, quiet: 0, quiet + 1: 0} {
		s, err := overshoots(5, func() (time.Duration, error) { return took, nil })
		if err != nil {
			t.Fatal(err)
		}
		if s.Short != want || s.Ops != 5 {
			t.Errorf("5 waits of %v instead of %v: got %d short of %d, want %d", took, quiet, s.Short, s.Ops, want)
		}
	}
}
