// Command oracle records what the real Netty does with generated programs, and
// compares it with core; package props/netty says how.
//
//	go run ./cmd/oracle                      # 2400 programs of a new seed, compared
//	go run ./cmd/oracle -seed 7 -record ../../testdata/netty/programs.txt
//	go run ./cmd/oracle -seed 7 -keep old.txt -record new.txt   # only what is not in old.txt
//
// Each program runs on Netty until two runs in a row have the same outcome; how many
// needed more than two is printed, and those that never agreed are an error. The exit
// code is 1 if anything differs that no rule predicts, or if a departure that programs
// can show was not.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"eventide/bench/peers"
	"eventide/props/netty"
)

func main() {
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the programs")
	n := flag.Int("n", 2400, "number of programs")
	record := flag.String("record", "", "write the recordings to this `file`")
	drivers := flag.String("drivers", "../../out/peers", "directory that drivers/build.sh has built into")
	verbose := flag.Int("show", 5, "how many unpredicted differences to print")
	keep := flag.String("keep", "", "take what this `file` has of the same programs, and run the others only")
	again := flag.String("again", "^$", "with -keep: run the programs that match this `regexp` all the same")
	flag.Parse()
	rerun, err := regexp.Compile(*again)
	if flag.NArg() > 0 || *n < 1 || err != nil {
		fmt.Fprintln(os.Stderr, "oracle: want no arguments, n of at least 1, and a regexp:", err)
		os.Exit(2)
	}
	kept, err := recorded(*keep, rerun)
	if err == nil {
		err = run(*seed, *n, *record, *drivers, *verbose, kept)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

// recorded reads the recordings that stand, by the text of their programs.
func recorded(name string, rerun *regexp.Regexp) (map[string]netty.Trace, error) {
	kept := map[string]netty.Trace{}
	if name == "" {
		return kept, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	_, records, err := netty.Read(file)
	for _, r := range records {
		if text := r.Program.String(); !rerun.MatchString(text) {
			kept[text] = r.Netty
		}
	}
	return kept, err
}

func run(seed uint64, n int, record, drivers string, verbose int, kept map[string]netty.Trace) error {
	command, err := peers.NettyCommand(drivers, "nio")
	if err != nil {
		return fmt.Errorf("not run: %w", err)
	}
	d, err := peers.StartDriver("netty", command...)
	if err != nil {
		return fmt.Errorf("not run: %w", err)
	}
	defer d.Close()
	version, err := d.Do(peers.Request{Word: "about"}, time.Minute)
	if err != nil {
		return err
	}
	fmt.Printf("Netty %s, seed %d\n", version.Version(), seed)
	programs := make([]*netty.Program, n)
	thrown := 0
	for i := range programs {
		p, more := netty.Generate(seed, i)
		programs[i], thrown = p, thrown+more
	}
	fmt.Printf("%d programs; %d others thrown away, whose outcome is not settled\n", n, thrown)
	traces, again, err := agree(d, programs, kept)
	if err != nil {
		return err
	}
	fmt.Printf("%d needed more than two runs on Netty to agree with themselves\n", again)
	var tally netty.Tally
	var records []netty.Record
	for i, p := range programs {
		core, err := netty.RunCore(new(testing.T), p)
		if err != nil {
			return err
		}
		tally.Add(netty.Judge(p, traces[i], core))
		records = append(records, netty.Record{Program: p, Netty: traces[i]})
	}
	if record != "" {
		about := fmt.Sprintf("Netty %s; %d programs of seed %d, recorded by go run ./cmd/oracle in bench/peers.", version.Version(), n, seed)
		if err := write(record, about, records); err != nil {
			return err
		}
	}
	return report(d, tally, verbose)
}

func write(name, about string, records []netty.Record) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(netty.Write(file, about, records), file.Close())
}

// mostRuns is how often a program is run before it is given up.
const mostRuns = 400

// agree runs each program until two runs have had the same outcome, one after the
// other; runs in which the machine did not keep the times do not count.
func agree(d *peers.Driver, programs []*netty.Program, kept map[string]netty.Trace) (traces []netty.Trace, again int, err error) {
	traces = make([]netty.Trace, len(programs))
	runs := make([]int, len(programs)) // that count
	var left []int
	for i, p := range programs {
		trace, stands := kept[p.String()]
		if traces[i] = trace; !stands {
			left = append(left, i)
		}
	}
	fmt.Printf("%d recordings kept\n", len(programs)-len(left))
	late := 0
	for round := 0; round < mostRuns && len(left) > 0; round++ {
		fmt.Fprintf(os.Stderr, "run %d: %d programs on Netty\n", round+1, len(left))
		now, err := play(d, programs, left)
		if err != nil {
			return nil, 0, err
		}
		var open []int
		for _, i := range left {
			trace, kept := now[i]
			if !kept {
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
			again++
		}
	}
	fmt.Printf("%d runs did not count: the machine was late\n", late)
	if len(left) > 0 {
		return nil, again, fmt.Errorf("%d programs have not had the same outcome twice in a row on Netty; the first: %v", len(left), programs[left[0]])
	}
	return traces, again, nil
}

// play runs some of the programs, and waits for the trace of each. One that was late
// has none.
func play(d *peers.Driver, programs []*netty.Program, which []int) (map[int]netty.Trace, error) {
	sent := make(chan error, 1)
	go func() {
		for _, i := range which {
			if err := d.Send(fmt.Sprintf("program %v", programs[i])); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	traces := map[int]netty.Trace{}
	for range which {
		line, err := d.Receive(time.Minute)
		if err != nil {
			return nil, err
		}
		id, text, _ := strings.Cut(strings.TrimPrefix(line, "trace "), " ")
		i, err := strconv.Atoi(id)
		if err != nil || i < 0 || i >= len(programs) {
			return nil, fmt.Errorf("the driver says %q, want a trace and its id", line)
		}
		if text == "late" {
			continue
		}
		if traces[i], err = netty.ParseTrace(text); err != nil {
			return nil, err
		}
	}
	return traces, <-sent
}

// report prints the departures, and is an error if something is not as predicted.
func report(d *peers.Driver, tally netty.Tally, verbose int) error {
	fmt.Printf("\n%d programs: %d with equal outcomes, %d that differ as the rules say, %d that no rule predicts\n\n",
		tally.Programs, tally.Equal, tally.Differ, len(tally.Wrong))
	out := bufio.NewWriter(os.Stdout)
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
	errs = append(errs, table.Flush(), out.Flush())
	for i, v := range tally.Wrong {
		if i < verbose {
			fmt.Println(v)
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
