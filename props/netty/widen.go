package netty

import "slices"

// Widen returns p with all its times multiplied by factor, for a machine on which
// goroutines run late. ok is false if Netty's rules or the contract predict another
// outcome for the result, or if the times that decide the outcome are not further apart.
func Widen(p *Program, factor int) (wide *Program, ok bool) {
	wide = &Program{ID: p.ID, Kind: p.Kind, Fail: p.Fail, Steps: widened(p.Steps, factor)}
	if !settled(wide, factor*longest) {
		return nil, false
	}
	was, is := runReference(p), runReference(wide)
	if is.slack() <= was.slack() {
		return nil, false
	}
	before, after := runContract(p, 0), runContract(wide, 0)
	rules := outcomeOf(p, was.trace, before.early).differences("", outcomeOf(wide, is.trace, after.early), "")
	contract := outcomeOf(p, before.trace, before.early).differences("", outcomeOf(wide, after.trace, after.early), "")
	return wide, len(rules) == 0 && len(contract) == 0
}

// widened multiplies the arguments that are times. The arguments of some steps are
// labels.
func widened(steps []*Step, factor int) []*Step {
	var wide []*Step
	for _, s := range steps {
		w := *s
		if !slices.Contains([]byte{opCancel, opRemove, opListen}, s.Op) {
			w.A, w.B = factor*s.A, factor*s.B
		}
		w.Body = widened(s.Body, factor)
		wide = append(wide, &w)
	}
	return wide
}
