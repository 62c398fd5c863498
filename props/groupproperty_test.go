package props

import (
	"fmt"

	"eventide/props/history"

	"pgregory.net/rapid"
)

// GroupProperty is the property of G21: Next is exactly fair over all callers, a shutdown
// of the group reaches every child, the group's Done closes only after the last child's,
// its report is the sum of theirs, and their accepted tasks have run.
func GroupProperty(observe func(Verdict)) func(*rapid.T) {
	programs := GroupPrograms()
	var found *told
	return func(t *rapid.T) {
		p := programs.Draw(t, "program")
		judge := func(p GroupProgram) (broken string) {
			rapid.SyncTest(t, func(*rapid.T) { broken = p.Run() })
			v := Verdict{Exercised: map[string]bool{"G21": p.Exercises()}}
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
				found = groupFailure(t, p, broken, judge)
			}
		}
		found.fail(t)
	}
}

// groupFailure is failure for a group program.
func groupFailure(t *rapid.T, p GroupProgram, broken string, judge func(GroupProgram) string) *told {
	if path, known := failedBefore.known(p.Violation(broken)); known {
		return &told{line: again(p.Violation(broken), path)}
	}
	first := p.Violation(broken)
	least := MinimiseGroup(p, func(q GroupProgram) bool {
		for range minimiseTries {
			if text := judge(q); text != "" {
				broken = text
				return true
			}
		}
		return false
	})
	small := least.Violation(broken)
	path, err := Case{Guarantee: small.Guarantee, Text: small.Text, Group: &least}.Save(caseDir())
	if err != nil {
		t.Logf("props: the case could not be saved: %v", err)
	}
	failedBefore.add(path, first, small)
	all := fmt.Sprintf("%v\n\nprogram  %+v\n\nreplay  %s\n", small, least, replayLine(path))
	return &told{history.Clip(small.String()), bounded(all, path)}
}
