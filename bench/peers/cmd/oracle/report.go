package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"eventide/bench/peers"
	"eventide/props/netty"
)

// report prints the departures, and is an error if something is not as predicted.
func report(d *peers.Driver, tally netty.Tally, show int, out io.Writer) error {
	fmt.Fprintf(out, "\n%d programs: %d with equal outcomes, %d that differ as the rules say, %d that no rule predicts\n\n",
		tally.Programs, tally.Equal, tally.Differ, len(tally.Wrong))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "rule\tprograms that differ\tby this alone\tNetty")
	var errs []error
	for _, departure := range netty.Departures {
		rules := strings.Join(departure.Rules, " ")
		switch {
		case departure.Program:
			shown, alone := 0, 0
			for _, rule := range departure.Rules {
				shown, alone = shown+tally.Shown[rule], alone+tally.Alone[rule]
			}
			fmt.Fprintf(table, "%s\t%d\t%d\t%s\n", rules, shown, alone, departure.Netty)
		case departure.Show != "":
			answer, err := d.Do(peers.Request{Word: "show", Args: map[string]string{"rule": departure.Show}}, time.Minute)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", departure.Show, err))
				continue
			}
			fmt.Fprintf(table, "%s\t%s\t\t%s\n", rules, answer.Text("saw"), departure.Netty)
		default:
			fmt.Fprintf(table, "%s\tnot shown: %s\t\t%s\n", rules, departure.Reason, departure.Netty)
		}
	}
	errs = append(errs, table.Flush())
	for i, v := range tally.Wrong {
		if i < show {
			fmt.Fprintln(out, v)
		}
	}
	if len(tally.Wrong) > 0 {
		errs = append(errs, fmt.Errorf("%d programs have an outcome that no rule predicts", len(tally.Wrong)))
	}
	for _, missing := range tally.Missing() {
		errs = append(errs, fmt.Errorf("no program has shown %v: %s", missing.Rules, missing.Netty))
	}
	return errors.Join(errs...)
}
