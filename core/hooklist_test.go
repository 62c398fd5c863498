package core

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A hookList against a slice: the order, the number of hooks of the round, and what remove reports.
func TestPropHookList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l hookList
		var all, waiting []*hook // every hook ever added, and those that have not begun, in the order added
		marked := 0              // of these, the hooks of this round
		t.Repeat(map[string]func(*rapid.T){
			"add": func(*rapid.T) {
				h := &hook{run: func() {}}
				l.add(h)
				all, waiting = append(all, h), append(waiting, h)
			},
			"mark": func(*rapid.T) {
				l.mark()
				marked = len(waiting)
			},
			"begin": func(t *rapid.T) {
				if len(waiting) == 0 {
					t.Skip("no hook waits")
				}
				if h := l.begin(); h != waiting[0] || h.state != hookBegun {
					t.Fatalf("G6: begin returned another hook than the first, or left its state at %d", h.state)
				}
				waiting, marked = waiting[1:], max(marked-1, 0)
			},
			"remove": func(t *rapid.T) {
				if len(all) == 0 {
					t.Skip("no hook was added")
				}
				h := rapid.SampledFrom(all).Draw(t, "hook")
				at := slices.Index(waiting, h)
				if got := l.remove(h); got != (at >= 0) {
					t.Fatalf("G6: remove reports %v for hook %d of those that wait", got, at)
				}
				if at < 0 {
					return
				}
				if h.run != nil {
					t.Fatal("G24: a removed hook keeps its function")
				}
				if waiting = slices.Delete(waiting, at, at+1); at < marked {
					marked--
				}
			},
			"": func(t *rapid.T) {
				if l.size() != len(waiting) || l.marked() != marked {
					t.Fatalf("%d hooks wait, %d of this round; want %d and %d", l.size(), l.marked(), len(waiting), marked)
				}
			},
		})
	})
}
