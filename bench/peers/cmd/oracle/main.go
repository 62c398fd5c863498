// Command oracle records what the real Netty does with generated programs, and
// compares it with core; package props/netty says how.
//
//	go run ./cmd/oracle                      # 2400 programs of a new seed, compared
//	go run ./cmd/oracle -seed 7 -record ../../testdata/netty/programs.txt
//	go run ./cmd/oracle -seed 7 -keep old.txt -record new.txt   # only what is not in old.txt
//
// Each program runs on Netty until two runs in a row have the same outcome; how many
// needed more than two is printed, and those that never agreed are an error. A program
// whose outcome no rule predicts runs again alone, as do wider copies of it: what time
// decided under load does not count.
//
// Exit code 0: all is as predicted. 1: something differs that no rule predicts, or a
// departure that programs can show was not. 2: usage. 3: not run, because Netty or its
// driver is missing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"testing"
	"time"

	"eventide/bench/peers"
	"eventide/internal/command"
	"eventide/props/netty"
)

func main() { os.Exit(oracleMain(os.Args[1:], os.Stdout, os.Stderr)) }

// The exit codes.
const (
	exitDiffers = 1
	exitNotRun  = 3
)

type settings struct {
	seed         uint64
	n            int
	record, keep string
	drivers      string
	show         int
	rerun        *regexp.Regexp // of those that keep has
}

func parse(args []string, stderr io.Writer) (settings, error) {
	s := settings{rerun: regexp.MustCompile("^$")}
	f := flag.NewFlagSet("oracle", flag.ContinueOnError)
	f.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "seed of the programs")
	f.IntVar(&s.n, "n", 2400, "number of programs")
	f.StringVar(&s.record, "record", "", "write the recordings to this `file`")
	f.StringVar(&s.drivers, "drivers", "../../out/peers", "directory that drivers/build.sh has built into")
	f.IntVar(&s.show, "show", 5, "how many unpredicted differences to print")
	f.StringVar(&s.keep, "keep", "", "take what this `file` has of the same programs, and run the others only")
	f.Func("again", "with -keep: run the programs that match this `regexp` all the same", func(text string) (err error) {
		s.rerun, err = regexp.Compile(text)
		return err
	})
	err := command.Parse(f, args, stderr, func() error {
		if command.Given(f, "again") && s.keep == "" {
			return errors.New("-again is given, want -keep with it")
		}
		return errors.Join(command.AtLeast("-n", s.n, 1), command.AtLeast("-show", s.show, 0))
	})
	return s, err
}

func oracleMain(args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if err != nil {
		return command.Refuse(stderr, "oracle", err)
	}
	kept, err := recorded(s.keep, s.rerun)
	if err == nil {
		err = run(s, kept, stdout, stderr)
	}
	switch {
	case errors.Is(err, errNotRun):
		fmt.Fprintf(stdout, "\nNOT RUN: nothing was compared with Netty\n")
		fmt.Fprintln(stderr, "oracle:", err)
		return exitNotRun
	case err != nil:
		fmt.Fprintln(stderr, "oracle:", err)
		return exitDiffers
	}
	return 0
}

// errNotRun means that there is no Netty to compare with.
var errNotRun = errors.New("NOT RUN")

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

func run(s settings, kept map[string]netty.Trace, stdout, stderr io.Writer) error {
	line, err := peers.NettyCommand(s.drivers, "nio")
	if err != nil {
		return fmt.Errorf("%w: %w", errNotRun, err)
	}
	d, err := peers.StartDriver("netty", line...)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotRun, err)
	}
	defer d.Close()
	about, err := d.Do(peers.Request{Word: "about"}, time.Minute)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotRun, err)
	}
	fmt.Fprintf(stdout, "Netty %s, seed %d\n", about.Version(), s.seed)
	programs, thrown := generate(s.seed, s.n)
	fmt.Fprintf(stdout, "%d programs, of which %d are for departures that the others do not show; %d others thrown away, whose outcome is not settled\n",
		len(programs), len(programs)-s.n, thrown)
	o := &oracle{play: driven(d), core: onCore, out: stdout, progress: stderr}
	verdicts, records, err := o.judge(programs, kept)
	if err != nil {
		return err
	}
	if s.record != "" {
		about := fmt.Sprintf("Netty %s; %d programs of seed %d, recorded by go run ./cmd/oracle in bench/peers.", about.Version(), len(records), s.seed)
		if err := write(s.record, about, records); err != nil {
			return err
		}
	}
	var tally netty.Tally
	for _, v := range verdicts {
		tally.Add(v)
	}
	return report(d, tally, s.show, stdout)
}

// mostMore bounds how many programs are looked through for a departure.
const mostMore = 20_000

// generate returns n programs, and more for each departure that none of them shows as
// the rules predict. It counts those whose outcome is not settled.
func generate(seed uint64, n int) (programs []*netty.Program, thrown int) {
	var tally netty.Tally
	for i := 0; i < n || i < n+mostMore && len(tally.Missing()) > 0; i++ {
		p, more := netty.Generate(seed, i)
		missing := len(tally.Missing())
		rules := netty.Predicted(p)
		tally.Add(netty.Verdict{Program: p, Differs: len(rules) > 0, Rules: rules})
		if i < n || len(tally.Missing()) < missing {
			programs, thrown = append(programs, p), thrown+more
		}
	}
	return programs, thrown
}

func onCore(p *netty.Program) (netty.Trace, error) { return netty.RunCore(new(testing.T), p) }

func write(name, about string, records []netty.Record) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(netty.Write(file, about, records), file.Close())
}
