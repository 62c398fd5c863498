package props

import "pgregory.net/rapid"

// GroupProperty is the property of G21: Next is exactly fair over all callers, a shutdown
// of the group reaches every child, the group's Done closes only after the last child's,
// its report is the sum of theirs, and their accepted tasks have run.
func GroupProperty(observe func(Verdict)) func(*rapid.T) {
	return untracedProperty("G21", GroupPrograms(), MinimiseGroup, func(p GroupProgram) Case { return Case{Group: &p} }, observe)
}
