package main

import (
	"fmt"

	"eventide/props/netty"
)

// suspicion is what became of a program whose outcome no rule predicts.
type suspicion struct {
	verdict   netty.Verdict
	trace     netty.Trace
	onlyWider bool // it was as predicted with wider times, and with its own never
}

const (
	aloneTries = 3   // outcomes that a program may have alone, none of them as predicted
	aloneRuns  = 200 // that it may take until two in a row agree
)

// wideFactors are by how much the times of a suspect are stretched, the first that its
// rules allow.
var wideFactors = []int{4, 3, 2}

// suspect runs a program again with nothing else on the driver. Two runs in a row have
// to agree, as in agree. What is unpredicted each time is tried with wider times, if
// the program allows that; only what is unpredicted then as well counts.
func (o *oracle) suspect(p *netty.Program, core netty.Trace) (s suspicion, err error) {
	for range aloneTries {
		if s.trace, err = o.alone(p, p); err != nil {
			return s, err
		}
		if s.verdict = netty.Judge(p, s.trace, core); len(s.verdict.Wrong) == 0 {
			return s, nil
		}
	}
	for _, factor := range wideFactors {
		wide, ok := netty.Widen(p, factor)
		if !ok {
			continue
		}
		trace, err := o.alone(p, wide)
		if err != nil {
			return s, err
		}
		s.onlyWider = len(netty.Judge(p, trace, core).Wrong) == 0
		break
	}
	return s, nil
}

// alone runs one program, which is p or a wider one of the same outcome, until two runs
// in a row agree.
func (o *oracle) alone(p, run *netty.Program) (last netty.Trace, err error) {
	ran := false
	for range aloneRuns {
		now, err := o.play([]*netty.Program{run})
		if err != nil {
			return last, err
		}
		trace, counts := now[0]
		if !counts {
			continue
		}
		if ran && netty.SameOutcome(p, last, trace) {
			return trace, nil
		}
		last, ran = trace, true
	}
	return last, fmt.Errorf("alone, a program has not had the same outcome twice in a row in %d runs on Netty: %v", aloneRuns, run)
}
