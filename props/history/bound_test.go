package history_test

import (
	"strings"
	"testing"

	"eventide/props/history"
)

// TestBound wants a long report shortened, and what matters most of it kept.
func TestBound(t *testing.T) {
	report := "G3 lost\n\ntrace\n" + strings.Repeat("     1  execute\n", 1000) + ">  999  done\n" + strings.Repeat("x", 10000) + "\nreplay  go test\n"
	short, left := history.Bound(report, 1000)
	if len(short) > 1000 || left == 0 {
		t.Errorf("got %d bytes, and %d lines left out", len(short), left)
	}
	for _, part := range []string{"G3 lost\n", "\n>  999  done\n", "\nreplay  go test\n"} {
		if !strings.Contains(short, part) {
			t.Errorf("got\n%s\nwant it to contain %q", short, part)
		}
	}
	if short, left := history.Bound("a\nb\n", 1000); short != "a\nb\n" || left != 0 {
		t.Errorf("got %q, and %d lines left out, want all", short, left)
	}
}

// TestCause wants labels, positions and times not to matter, and the rest to.
func TestCause(t *testing.T) {
	v := history.Violation{Guarantee: "G3", Predicate: "S2", Text: "task 2, accepted at #3, never ran in 1m2.5s"}
	same := v
	same.Text, same.At = "task 17, accepted at #120, never ran in 10ms", []int{4}
	if v.Cause() != same.Cause() {
		t.Errorf("got %q and %q, want one cause", v.Cause(), same.Cause())
	}
	for name, change := range map[string]func(*history.Violation){
		"guarantee": func(v *history.Violation) { v.Guarantee = "G9" },
		"predicate": func(v *history.Violation) { v.Predicate = "S1" },
		"text":      func(v *history.Violation) { v.Text = "timer 2, accepted at #3, never ran in 10ms" },
	} {
		other := v
		change(&other)
		if v.Cause() == other.Cause() {
			t.Errorf("another %s: got one cause %q", name, v.Cause())
		}
	}
}
