package driver

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"eventide/internal/command"
	"eventide/internal/shard"
	"eventide/props/interleave/protocol"
)

// Options are the settings of a run. The zero value of a field means its default.
type Options struct {
	Dir      string   // directory the go command runs in; "" is the current one
	Patterns []string // packages as the go command names them; none means "."

	// As go test means them.
	Run      string
	Skip     string
	Race     bool
	Short    bool
	Verbose  bool
	JSON     bool
	FailFast bool
	Tags     string
	Count    int
	Parallel int
	Timeout  time.Duration // of one package's run, 10 minutes by default
	Build    []string      // further build flags: -mod, -modfile, -ldflags
	Args     []string      // arguments of the test binary after -args

	// The search.
	Budget    time.Duration // of the whole run, divided among the tests; 0 is no limit
	Schedules uint64        // of each test; 0 is no limit if there is a budget
	Seed      uint64
	Strategy  string      // "" is the mixture
	Steps     uint64      // limit of the operations of a schedule
	Exhaust   int         // most preemptions of a complete search; negative is none
	Time      string      // idle, mixed or early
	Net       string      // memory or real; "" is memory
	Faults    []string    // of the world outside, that may happen: names of protocol, or "all"
	Leaks     bool        // goroutines left behind are findings
	Fresh     bool        // a process for each schedule
	Processes int         // controlled processes at once
	Shard     shard.Shard // share of the schedules that this process explores; of 0 or 1 for all
	State     string      // file of what is done, see Test; "" for none

	hunting bool // a finding is minimised whatever is left of the budget

	// What is written.
	JUnit   string
	HTML    string       // directory for timelines
	Write   bool         // write a regression file for each confirmed finding
	Report  func(Report) // called with the result of each test, one call at a time; nil for none
	Stdout  io.Writer
	Stderr  io.Writer
	Command string // how replay lines name the tool
}

// Defaults of the search where neither a budget nor a number of schedules is given.
const (
	defaultSchedules = 1000
	defaultBudget    = 10 * time.Second // of each test
	defaultTimeout   = 10 * time.Minute
)

// ErrInput is wrapped by errors that the caller's input causes: flags, packages that
// do not build, patterns that match nothing, a Go release without support.
var ErrInput = errors.New("bad input")

func inputError(format string, args ...any) error {
	return inputFailure{fmt.Errorf(format, args...)}
}

// inputFailure is an ErrInput that prints its own text alone.
type inputFailure struct{ error }

func (inputFailure) Is(target error) bool { return target == ErrInput }
func (f inputFailure) Unwrap() error      { return f.error }

// Strategies are the names that Options.Strategy may have.
var Strategies = []string{protocol.StrategyMix, protocol.StrategyWalk, protocol.StrategyPCT2, protocol.StrategyPCT3, protocol.StrategyPCT4,
	protocol.StrategyPCT5, protocol.StrategyPOS, protocol.StrategySURW, protocol.StrategyFeedback, protocol.StrategySticky}

// Times and Nets are the values that Options.Time and Options.Net may have.
var (
	Times = []string{protocol.TimeIdle, protocol.TimeMixed, protocol.TimeEarly}
	Nets  = []string{protocol.NetMemory, protocol.NetReal}
)

func (o *Options) complete() error {
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"."}
	}
	if o.Count == 0 {
		o.Count = 1
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Time == "" {
		o.Time = "idle"
	}
	if o.Strategy == "" {
		o.Strategy = "mix"
	}
	if o.Processes <= 0 {
		o.Processes = runtime.NumCPU()
	}
	if o.Stdout == nil {
		o.Stdout = io.Discard
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	if o.Command == "" {
		o.Command = "interleave"
	}
	return o.check()
}

func (o *Options) check() error {
	for _, err := range []error{
		command.OneOf("-time", o.Time, Times), command.OneOf("-net", cmp.Or(o.Net, protocol.NetMemory), Nets), command.OneOf("-strategy", o.Strategy, Strategies),
	} {
		if err != nil {
			return inputFailure{err}
		}
	}
	if err := o.checkFaults(); err != nil {
		return err
	}
	switch {
	case o.Count < 0:
		return inputError("-count %d: want a positive number", o.Count)
	case o.Budget < 0:
		return inputError("-budget %v: want a positive duration", o.Budget)
	case o.Timeout < 0:
		return inputError("-timeout %v: want a positive duration", o.Timeout)
	}
	return nil
}

// canWrite fails if a file that the options name cannot be written. A run may take hours
// before it comes to that.
func (o *Options) canWrite() error {
	if o.JUnit != "" {
		f, err := os.OpenFile(o.JUnit, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return inputError("-junit: %w", err)
		}
		f.Close()
	}
	if o.HTML != "" {
		if err := os.MkdirAll(o.HTML, 0o755); err != nil {
			return inputError("-html: %w", err)
		}
	}
	if o.State != "" {
		if err := os.MkdirAll(filepath.Dir(o.State), 0o755); err != nil {
			return inputError("-state: %w", err)
		}
	}
	return nil
}
