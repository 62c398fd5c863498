// Command explore checks the model over every reachable state within bounds.
//
//	go run ./model/cmd/explore
//	go run ./model/cmd/explore -tasks 1 -cancel -panics -policy RunDueTimers
//	go run ./model/cmd/explore -mermaid
//
// Without flags for the bounds it explores model.DefaultBounds and then
// model.ChannelBounds. It prints one line for each search, and during a search a line on
// standard error every two seconds.
//
// The exit code is 0 if every search was complete; 1 if a guarantee is broken, which is
// printed with a shortest path, or if -max or -memory ended a search; 2 if an argument is
// wrong; and 130 if a signal ended a search, whose result so far is printed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"eventide/internal/command"
	"eventide/model"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are the flags that are not bounds.
type settings struct {
	mermaid, json bool
	maxStates     int
	memory        int  // MiB
	bounded       bool // a flag for the bounds was given
}

const exitInterrupted = 130

// run is main without the process. It returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	b, set, err := parse(args, stderr)
	if err != nil {
		return command.Refuse(stderr, "explore", err)
	}
	if set.mermaid {
		fmt.Fprint(stdout, model.Mermaid())
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	all := []search{{"given bounds", b}}
	if !set.bounded {
		all = []search{{"default bounds", b}, {"channel bounds", model.ChannelBounds(model.DrainChannels)}}
	}
	code := 0
	for _, s := range all {
		w := newWatch(ctx, s.name, uint64(set.memory)<<20, stderr)
		r := model.Explore(s.bounds, model.Options{MaxStates: set.maxStates, Progress: w.level, Stop: w.stop})
		if w.why != "" {
			fmt.Fprintf(stderr, "%s: %s\n", s.name, w.why)
		}
		code = max(code, report(stdout, s, r, time.Since(w.began), set.json))
		if ctx.Err() != nil {
			return exitInterrupted
		}
	}
	return code
}

// search is a set of bounds and what it is called in the report.
type search struct {
	name   string
	bounds model.Bounds
}

func parse(args []string, stderr io.Writer) (model.Bounds, settings, error) {
	b, set := model.DefaultBounds(), settings{}
	f := flag.NewFlagSet("explore", flag.ContinueOnError)
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
	f.BoolVar(&b.Cancel, "cancel", b.Cancel, "cancel futures and timers, move timers, remove hooks")
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
	f.IntVar(&set.memory, "memory", availableMiB(), "stop when the states take more than this many MiB, 0: never")
	err := command.Parse(f, args, stderr, func() error {
		return errors.Join(checkBounds(b), command.AtLeast("-max", set.maxStates, 0), command.AtLeast("-memory", set.memory, 0))
	})
	f.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "max", "mermaid", "json", "memory":
		default:
			set.bounded = true
		}
	})
	return b, set, err
}

// mostOfASort is the largest value of a flag for the bounds. A search ends only with far
// smaller ones.
const mostOfASort = 1000

// checkBounds returns an error if a bound is negative or above mostOfASort.
func checkBounds(b model.Bounds) error {
	var errs []error
	for _, f := range []struct {
		name  string
		value int
	}{
		{"-producers", b.Producers}, {"-tasks", b.Tasks}, {"-tails", b.Tails}, {"-timers", b.Timers}, {"-periodic", b.Periodic},
		{"-hooks", b.Hooks}, {"-fds", b.FDs}, {"-channels", b.Channels}, {"-limit", b.Limit},
	} {
		errs = append(errs, command.AtLeast(f.name, f.value, 0))
		if f.value > mostOfASort {
			errs = append(errs, fmt.Errorf("%s is %d, want at most %d: a search with so many would not end", f.name, f.value, mostOfASort))
		}
	}
	return errors.Join(errs...)
}

// report prints the result and returns the exit code.
func report(w io.Writer, s search, r model.Result, took time.Duration, asJSON bool) int {
	verdict := "complete"
	switch {
	case r.Violation != nil:
		verdict = "violation"
	case !r.Complete:
		verdict = "incomplete"
	}
	if asJSON {
		printJSON(w, s, r, took, verdict)
	} else {
		fmt.Fprintf(w, "%s: states=%d edges=%d depth=%d %s\n", s.name, r.States, r.Edges, r.Depth, verdict)
		if r.Violation != nil {
			fmt.Fprint(w, r.Violation)
		}
	}
	if verdict != "complete" {
		return 1
	}
	return 0
}

func printJSON(w io.Writer, s search, r model.Result, took time.Duration, verdict string) {
	out := struct {
		Name      string         `json:"name"`
		Verdict   string         `json:"verdict"`
		States    int            `json:"states"`
		Edges     int            `json:"edges"`
		Depth     int            `json:"depth"`
		Seconds   float64        `json:"seconds"`
		Taken     map[string]int `json:"taken"`
		Bounds    model.Bounds   `json:"bounds"`
		Violation string         `json:"violation,omitempty"`
	}{s.name, verdict, r.States, r.Edges, r.Depth, took.Seconds(), r.Taken, s.bounds, ""}
	if r.Violation != nil {
		out.Violation = r.Violation.String()
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		fmt.Fprintln(w, err)
	}
}
