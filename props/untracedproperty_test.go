package props

import (
	"fmt"

	"eventide/props/history"

	"pgregory.net/rapid"
)

// untraced is a program whose run writes no history: it judges itself.
type untraced interface {
	Run() string // a violation as text, or ""
	Exercises() bool
	Violation(text string) history.Violation
}

// untraced returns the program of the case that is one, or nil.
func (c Case) untraced() untraced {
	switch {
	case c.Group != nil:
		return *c.Group
	case c.Invocation != nil:
		return *c.Invocation
	}
	return nil
}

// untracedProperty is Property for such programs. kept makes the case of a program.
func untracedProperty[P untraced](id string, programs *rapid.Generator[P], minimise func(P, func(P) bool) P, kept func(P) Case, observe func(Verdict)) func(*rapid.T) {
	var found *told
	return func(t *rapid.T) {
		p := programs.Draw(t, "program")
		judge := func(p P) (broken string) {
			rapid.SyncTest(t, func(*rapid.T) { broken = p.Run() })
			v := Verdict{Exercised: map[string]bool{id: p.Exercises()}}
			if broken != "" {
				v.Violations = []history.Violation{p.Violation(broken)}
			}
			if observe != nil {
				observe(v)
			}
			return broken
		}
		if found == nil {
			if broken := judge(p); broken != "" {
				found = untracedFailure(t, p, broken, func(violates func(P) bool) P { return minimise(p, violates) }, kept, judge)
			}
		}
		found.fail(t)
	}
}

// untracedFailure is failure for such a program.
func untracedFailure[P untraced](t *rapid.T, p P, broken string, minimise func(func(P) bool) P, kept func(P) Case, judge func(P) string) *told {
	first := p.Violation(broken)
	if path, known := failedBefore.known(first); known {
		return &told{line: again(first, path)}
	}
	least := minimise(func(q P) bool {
		for range minimiseTries {
			if text := judge(q); text != "" {
				broken = text
				return true
			}
		}
		return false
	})
	small := least.Violation(broken)
	c := kept(least)
	c.Guarantee, c.Text = small.Guarantee, small.Text
	path, err := c.Save(caseDir())
	if err != nil {
		t.Logf("props: the case could not be saved: %v", err)
	}
	failedBefore.add(path, first, small)
	all := fmt.Sprintf("%v\n\nprogram  %+v\n\nreplay  %s\n", small, least, replayLine(path))
	return &told{history.Clip(small.String()), bounded(all, path)}
}
