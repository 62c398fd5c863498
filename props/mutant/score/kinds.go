package score

// Kind is what one kind of check made of some picks that count.
type Kind struct {
	By     By
	Looked int
	Killed int
	Alone  int // killed by no other kind that looked
}

// Share is the share of those that it looked for that it killed. It says something of the
// check if the check always looks; the picks for which the others look are the hard ones.
func (k Kind) Share() Interval { return wilson(k.Killed, k.Looked) }

// Kinds is what each kind of check made of the picks that count, in the order of Order. Of a
// kind that always runs, only Whole picks are counted, because it ran for another pick only if
// the kinds before it had missed the pick. A kind that ran for none of them is left out: a run may
// be older than the kind.
func Kinds(picks []Pick) []Kind {
	var all []Kind
	for _, by := range Order() {
		k := Kind{By: by}
		for _, p := range picks {
			look, looked := p.Look(by)
			if !looked || !p.Counts() || by.Always() && !p.Whole() {
				continue
			}
			k.Looked++
			if !look.Killed {
				continue
			}
			k.Killed++
			if p.Whole() && p.kills() == 1 {
				k.Alone++
			}
		}
		if k.Looked > 0 {
			all = append(all, k)
		}
	}
	return all
}

// kills is how many kinds of checks killed the pick.
func (p Pick) kills() (n int) {
	for _, l := range p.Looks {
		if l.Killed {
			n++
		}
	}
	return n
}
