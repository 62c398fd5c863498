// Command servers prints which server keeps which verdict of props/draintest, and writes
// drain.json.
//
//	go run ./cmd/servers
//	go run ./cmd/servers -only 'gRPC|gnet'
//
// A server that does not start is "NOT RUN" with the reason. The exit code is 1 if a server of
// this repository that is right does not pass each verdict, if one with a mistake does not fail
// the verdict that names it, or if one of these was not run; and 2 for usage. What libraries of
// others do is a result.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"text/tabwriter"

	"eventide/bench/peers/servers"
	"eventide/internal/command"
	"eventide/props/draintest"
)

// Report is drain.json.
type Report struct {
	Schema   int      `json:"schema"`
	Verdicts []string `json:"verdicts"`
	Servers  []Server `json:"servers"`
}

// Server is a row.
type Server struct {
	Name       string `json:"name"`
	Foreign    bool   `json:"foreign,omitempty"` // see servers.Server
	Breaks     string `json:"breaks,omitempty"`  // the verdict that names its mistake
	NotRun     string `json:"not_run,omitempty"` // why there are no cells
	Rounds     int    `json:"rounds"`
	Unaccepted int    `json:"unaccepted"` // see draintest.Result
	Cells      []Cell `json:"cells"`
}

// Cell is one verdict on a server.
type Cell struct {
	Verdict   string `json:"verdict"`
	Status    string `json:"status"`
	Exercised int    `json:"exercised"`
	Failures  int    `json:"failures"`
	Text      string `json:"text,omitempty"`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process.
func run(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("servers", flag.ContinueOnError)
	only := f.String("only", "", "only servers whose name matches this regular expression")
	out := f.String("out", "../../out", "directory for drain.json")
	rounds := f.Int("rounds", 5, "rounds of each server")
	var match *regexp.Regexp
	if err := command.Parse(f, args, stderr, func() (err error) {
		match, err = regexp.Compile(*only)
		return errors.Join(err, command.AtLeast("-rounds", *rounds, 2))
	}); err != nil {
		return command.Refuse(stderr, "servers", err)
	}
	chosen := slices.DeleteFunc(servers.All(), func(s servers.Server) bool { return !match.MatchString(s.Name) })
	if len(chosen) == 0 {
		return command.Refuse(stderr, "servers", fmt.Errorf("no server matches -only %q", *only))
	}
	r := Report{Schema: 1, Verdicts: draintest.Verdicts()}
	for _, s := range chosen {
		s.Kit.Rounds = *rounds
		r.Servers = append(r.Servers, check(s))
	}
	r.print(stdout)
	if err := errors.Join(r.write(*out), r.ours()); err != nil {
		fmt.Fprintln(stderr, "servers:", err)
		return 1
	}
	return 0
}

// check judges one server.
func check(s servers.Server) Server {
	row := Server{Name: s.Name, Foreign: s.Foreign, Breaks: s.Breaks}
	result, err := s.Kit.Check(s.Start)
	if err != nil {
		row.NotRun = err.Error()
		return row
	}
	row.Rounds, row.Unaccepted = result.Rounds, result.Unaccepted
	for _, c := range result.Rows {
		row.Cells = append(row.Cells, Cell{c.Verdict, c.Status.String(), c.Exercised, c.Failures, c.Text})
	}
	return row
}

func (r Report) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "server")
	for _, v := range r.Verdicts {
		fmt.Fprint(t, "\t", v)
	}
	fmt.Fprintln(t)
	for _, s := range r.Servers {
		fmt.Fprint(t, s.Name)
		for _, c := range s.Cells {
			fmt.Fprint(t, "\t", c.Status)
		}
		if s.NotRun != "" {
			fmt.Fprint(t, "\tNOT RUN: ", s.NotRun)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	for _, s := range r.Servers {
		for _, c := range s.Cells {
			if c.Status == draintest.Fail.String() {
				fmt.Fprintf(w, "FAIL %s, %s: %s\n", s.Name, c.Verdict, c.Text)
			}
		}
	}
}

func (r Report) write(dir string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, "drain.json"), append(text, '\n'), 0o666))
}

// ours is an error if a result is not what the servers of this repository are made for.
func (r Report) ours() error {
	var errs []error
	for _, s := range r.Servers {
		switch {
		case s.Foreign:
		case s.NotRun != "":
			errs = append(errs, fmt.Errorf("%s: not run: %s", s.Name, s.NotRun))
		case s.Breaks == "":
			for _, c := range s.Cells {
				if c.Status != draintest.Pass.String() {
					errs = append(errs, fmt.Errorf("%s: %s is %s, want pass: %s", s.Name, c.Verdict, c.Status, c.Text))
				}
			}
		case !slices.ContainsFunc(s.Cells, func(c Cell) bool { return c.Verdict == s.Breaks && c.Status == draintest.Fail.String() }):
			errs = append(errs, fmt.Errorf("%s: %s does not fail", s.Name, s.Breaks))
		}
	}
	return errors.Join(errs...)
}
