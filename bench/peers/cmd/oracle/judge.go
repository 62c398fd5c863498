package main

import (
	"fmt"
	"io"

	"eventide/props/netty"
)

// oracle holds what Netty does against core and the rules of both.
type oracle struct {
	play          player
	core          func(*netty.Program) (netty.Trace, error) // in virtual time
	out, progress io.Writer
}

// judge returns the verdict on each program, and its recording. Those that time alone
// decided have neither.
func (o *oracle) judge(programs []*netty.Program, kept map[string]netty.Trace) (verdicts []netty.Verdict, records []netty.Record, err error) {
	traces, more, err := o.agree(programs, kept)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(o.out, "%d needed more than two runs on Netty to agree with themselves\n", more)
	var again, alone, wider, remained int
	for i, p := range programs {
		core, err := o.core(p)
		if err != nil {
			return nil, nil, err
		}
		v := netty.Judge(p, traces[i], core)
		if len(v.Wrong) > 0 {
			again++
			fmt.Fprintf(o.progress, "program %d has an outcome that no rule predicts: it runs again, alone\n", p.ID)
			s, err := o.suspect(p, core)
			if err != nil {
				return nil, nil, err
			}
			v, traces[i] = s.verdict, s.trace
			switch {
			case s.onlyWider:
				wider++
				continue
			case len(v.Wrong) > 0:
				remained++
			default:
				alone++
			}
		}
		verdicts = append(verdicts, v)
		records = append(records, netty.Record{Program: p, Netty: traces[i]})
	}
	fmt.Fprintf(o.out, "%d had an outcome that no rule predicts, and ran again alone: %d were then as predicted, %d only with wider times and are left out, %d remained\n",
		again, alone, wider, remained)
	return verdicts, records, nil
}

// mostRuns is how often a program is run before it is given up.
const mostRuns = 400

// agree runs each program until two runs have had the same outcome, one after the
// other; runs in which the machine did not keep the times do not count.
func (o *oracle) agree(programs []*netty.Program, kept map[string]netty.Trace) (traces []netty.Trace, more int, err error) {
	traces = make([]netty.Trace, len(programs))
	runs := make([]int, len(programs)) // that count
	var left []int
	for i, p := range programs {
		trace, stands := kept[p.String()]
		if traces[i] = trace; !stands {
			left = append(left, i)
		}
	}
	fmt.Fprintf(o.out, "%d recordings kept\n", len(programs)-len(left))
	late := 0
	for round := 0; round < mostRuns && len(left) > 0; round++ {
		fmt.Fprintf(o.progress, "run %d: %d programs on Netty\n", round+1, len(left))
		some := make([]*netty.Program, len(left))
		for at, i := range left {
			some[at] = programs[i]
		}
		now, err := o.play(some)
		if err != nil {
			return nil, 0, err
		}
		var open []int
		for at, i := range left {
			trace, counts := now[at]
			if !counts {
				late++
				open = append(open, i)
				continue
			}
			if runs[i]++; runs[i] == 1 || !netty.SameOutcome(programs[i], traces[i], trace) {
				open = append(open, i)
			}
			traces[i] = trace
		}
		left = open
	}
	for _, n := range runs {
		if n > 2 {
			more++
		}
	}
	fmt.Fprintf(o.out, "%d runs did not count: the machine was late\n", late)
	if len(left) > 0 {
		return nil, more, fmt.Errorf("%d programs have not had the same outcome twice in a row on Netty; the first: %v", len(left), programs[left[0]])
	}
	return traces, more, nil
}
