// Command explore checks the model over every reachable state within bounds.
//
//	go run ./model/cmd/explore
//	go run ./model/cmd/explore -tasks 1 -cancel -panics -policy RunDueTimers
//	go run ./model/cmd/explore -mermaid
//
// Without flags for the bounds it explores two sets of them, model.DefaultBounds
// and model.ChannelBounds. For each it prints one line, and exits with 1 and the
// shortest path if a guarantee is broken or the search was cut short.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"eventide/model"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are the flags that are not bounds.
type settings struct {
	mermaid, json, live bool
	maxStates           int
	bounded             bool // some flag is about the bounds
}

// run is main without the process. It returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	b, set, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	if set.mermaid {
		fmt.Fprint(stdout, model.Mermaid())
		return 0
	}
	o := model.Options{MaxStates: set.maxStates}
	if set.live {
		o.Progress = func(states, edges, depth int) {
			fmt.Fprintf(stderr, "\rstates=%d edges=%d depth=%d ", states, edges, depth)
		}
		defer fmt.Fprintln(stderr)
	}
	all := []model.Bounds{b}
	if !set.bounded {
		all = append(all, model.ChannelBounds(model.DrainChannels))
	}
	code := 0
	for _, b := range all {
		start := time.Now()
		r := model.Explore(b, o)
		code = max(code, report(stdout, b, r, time.Since(start), set.json))
	}
	return code
}

func parse(args []string, stderr io.Writer) (model.Bounds, settings, error) {
	b, set := model.DefaultBounds(), settings{}
	f := flag.NewFlagSet("explore", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&b.Producers, "producers", b.Producers, "goroutines that submit")
	f.IntVar(&b.Tasks, "tasks", b.Tasks, "tasks of each producer")
	f.IntVar(&b.Tails, "tails", b.Tails, "tail tasks")
	f.IntVar(&b.Timers, "timers", b.Timers, "one-shot timers")
	f.IntVar(&b.Periodic, "periodic", b.Periodic, "periodic timers")
	f.IntVar(&b.Hooks, "hooks", b.Hooks, "shutdown hooks")
	f.IntVar(&b.FDs, "fds", b.FDs, "plain registrations")
	f.IntVar(&b.Channels, "channels", b.Channels, "channels")
	f.IntVar(&b.Limit, "limit", b.Limit, "room in the queue, 0: unbounded")
	f.BoolVar(&b.Quiet, "quiet", b.Quiet, "ShutdownGracefully with a quiet period")
	f.BoolVar(&b.Timeout, "timeout", b.Timeout, "ShutdownGracefully with a timeout > 0")
	f.BoolVar(&b.Graceful, "graceful", b.Graceful, "ShutdownGracefully is called")
	f.BoolVar(&b.Shutdown, "shutdown", b.Shutdown, "Shutdown is called")
	f.BoolVar(&b.InBody, "inbody", b.InBody, "calls from inside bodies")
	f.BoolVar(&b.Lazy, "lazy", b.Lazy, "ExecuteLazy as well")
	f.BoolVar(&b.Panics, "panics", b.Panics, "bodies panic or call Goexit")
	f.BoolVar(&b.Cancel, "cancel", b.Cancel, "cancel futures and timers, remove hooks")
	f.BoolVar(&b.StartFailures, "startfailures", b.StartFailures, "the spawner may refuse")
	f.BoolVar(&b.LoopFailure, "loopfailure", b.LoopFailure, "the loop may break")
	f.BoolVar(&b.Lost, "lost", b.Lost, "the poller may lose a registration")
	f.BoolVar(&b.Observe, "observe", b.Observe, "State is called")
	f.Func("policy", "timers at shutdown: CancelTimers|RunDueTimers|RunTimersUntilTimeout", func(text string) error {
		p, err := model.ParsePolicy(text)
		b.Policy = p
		return err
	})
	f.Func("drain", "channels at shutdown: DrainChannels|CloseChannels", func(text string) error {
		p, err := model.ParseDrainPolicy(text)
		b.Drain = p
		return err
	})
	f.IntVar(&set.maxStates, "max", 0, "stop after this many states, 0: never")
	f.BoolVar(&set.mermaid, "mermaid", false, "print the diagram of the phases and exit")
	f.BoolVar(&set.json, "json", false, "print the result as JSON")
	f.BoolVar(&set.live, "live", false, "show progress on standard error")
	err := f.Parse(args)
	f.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "max", "mermaid", "json", "live":
		default:
			set.bounded = true
		}
	})
	if err == nil && f.NArg() > 0 {
		err = fmt.Errorf("explore: expected flags only, got %q", f.Arg(0))
		fmt.Fprintln(stderr, err)
	}
	return b, set, err
}

// report prints the result and returns the exit code.
func report(w io.Writer, b model.Bounds, r model.Result, took time.Duration, asJSON bool) int {
	verdict := "complete"
	switch {
	case r.Violation != nil:
		verdict = "violation"
	case !r.Complete:
		verdict = "incomplete"
	}
	if asJSON {
		printJSON(w, b, r, took, verdict)
	} else {
		fmt.Fprintf(w, "states=%d edges=%d depth=%d %s\n", r.States, r.Edges, r.Depth, verdict)
		if r.Violation != nil {
			fmt.Fprint(w, r.Violation)
		}
	}
	if verdict != "complete" {
		return 1
	}
	return 0
}

func printJSON(w io.Writer, b model.Bounds, r model.Result, took time.Duration, verdict string) {
	out := struct {
		Verdict   string         `json:"verdict"`
		States    int            `json:"states"`
		Edges     int            `json:"edges"`
		Depth     int            `json:"depth"`
		Seconds   float64        `json:"seconds"`
		Taken     map[string]int `json:"taken"`
		Bounds    model.Bounds   `json:"bounds"`
		Violation string         `json:"violation,omitempty"`
	}{verdict, r.States, r.Edges, r.Depth, took.Seconds(), r.Taken, b, ""}
	if r.Violation != nil {
		out.Violation = r.Violation.String()
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		fmt.Fprintln(w, err)
	}
}
