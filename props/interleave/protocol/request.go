package protocol

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxSwitches is the length of the longest list of switches that a process takes and
// reports. A longer schedule is repeated by its seed, strategy and number.
const MaxSwitches = 4096

// A Request tells a controlled process what to explore. The comment at each field
// begins with its key in the encoded form. A zero field is left out, and the process
// takes the default that the comment names. Durations are encoded in nanoseconds.
//
// The first round of the tests in a process is a warm-up, with the default at every
// decision: it fills what outlives a round, such as pools and lazily made tables, so that
// a later schedule takes the same course in every process. A finding of the warm-up is
// reported with Schedule.Warm. Schedule i after the warm-up has the number
// First + i*Stride. Only Seed, the
// number and the strategy determine a schedule of walk, sticky, pct and pos; surw,
// feedback and dfs also depend on the earlier schedules of the process.
type Request struct {
	// fd: the descriptor of the records. It is required, and must be 3 or more.
	FD int
	// warm=0: there is no warm-up. For a process that runs one schedule.
	Cold bool
	// seed: the seed of all chance. Default 1.
	Seed uint64
	// first: the number of the first schedule.
	First uint64
	// stride: the distance of the numbers of two schedules in a row. Default 1.
	Stride uint64
	// strategy: one of the Strategy constants. Default mix.
	Strategy string
	// time: TimeIdle, TimeMixed or TimeEarly. Default idle.
	Time string
	// slack: how far the clock may move early, in sum, between two moves of an idle
	// clock. Default one second.
	Slack time.Duration
	// steps: the most operations of a schedule. Default 2,000,000.
	Steps uint64
	// horizon: the virtual time for which goroutines must do the same after each move of
	// the clock, so that a partial deadlock is reported. Default 600 s.
	Horizon time.Duration
	// leaks=0: goroutines that the test leaves behind are no finding.
	IgnoreLeaks bool
	// detail: 0 writes findings, progress and the summary. 1 adds a schedule record
	// for each schedule. 2 adds an op record for each operation.
	Detail int
	// longest: the expected number of decisions of a schedule, for pct. It follows
	// the schedules of the process, and begins with those of the warm-up. A finding reports the value that its
	// schedule had; to repeat a pct schedule in a new process, send that value.
	// A schedule that is expected to have more than 20,000 decisions takes the default
	// outside of a window of 4,000, which lies elsewhere in each schedule.
	Longest uint64
	// largest: operations of the largest schedule that has passed in other processes. It
	// tells schedules without an end from tests that are too large. A finding reports it.
	Largest uint64
	// net: NetMemory or NetReal. Default memory.
	Net string
	// faults: the faults of the world outside that may happen. Default: none.
	Faults []string
	// fair: the most operations in a row of one goroutine while another can run.
	// Default: 500, but 524288 in every schedule whose number is 3 modulo 4, and 50 if
	// the number is 5 modulo 8.
	Fair uint64
	// bound: the most preemptions of a schedule of dfs. Default 2.
	Bound int
	// budget: real time after which the process begins no further schedule. Default: none.
	Budget time.Duration
	// switches: the decisions of StrategyReplay, in any order. Moves of the clock are
	// taken whatever Time is.
	Switches []Switch
	// drops: parts of Switches, at most MaxDrops. Schedule i of the process leaves out
	// the switches of part i. All schedules have the number First, and the process ends
	// behind the last part.
	Drops []Part
	// program: what interleave.Linearizable runs, a Program's String; "" draws one for
	// each schedule.
	Program string
}

// Encode returns the value of the environment variable Env: the version, then
// key=value pairs, separated by blanks.
func (r Request) Encode() string {
	var b strings.Builder
	fmt.Fprintf(&b, "v=%d fd=%d", Version, r.FD)
	number := func(key string, n uint64) {
		if n != 0 {
			fmt.Fprintf(&b, " %s=%d", key, n)
		}
	}
	text := func(key, s string) {
		if s != "" {
			fmt.Fprintf(&b, " %s=%s", key, s)
		}
	}
	if r.Cold {
		b.WriteString(" warm=0")
	}
	number("seed", r.Seed)
	number("first", r.First)
	number("stride", r.Stride)
	text("strategy", r.Strategy)
	text("time", r.Time)
	number("slack", uint64(r.Slack))
	number("steps", r.Steps)
	number("horizon", uint64(r.Horizon))
	if r.IgnoreLeaks {
		b.WriteString(" leaks=0")
	}
	number("detail", uint64(r.Detail))
	number("longest", r.Longest)
	number("largest", r.Largest)
	text("net", r.Net)
	text("faults", strings.Join(r.Faults, ","))
	number("fair", r.Fair)
	number("bound", uint64(r.Bound))
	number("budget", uint64(r.Budget))
	text("switches", FormatSwitches(r.Switches))
	text("drops", formatParts(r.Drops))
	text("program", r.Program)
	return b.String()
}

// strategies are the names that ParseRequest accepts.
var strategies = []string{StrategyMix, StrategyWalk, StrategyPCT2, StrategyPCT3, StrategyPCT4, StrategyPCT5,
	StrategyPOS, StrategySURW, StrategyFeedback, StrategySticky, StrategyDFS, StrategyFew, StrategyReplay}

// Strategies returns the names of all strategies.
func Strategies() []string { return slices.Clone(strategies) }

// faults are the names that ParseRequest accepts.
var faults = []string{FaultShort, FaultReset, FaultSlow, FaultFiles, FaultContexts, FaultCancels}

// Faults returns the names of all faults.
func Faults() []string { return slices.Clone(faults) }

// Validate returns an error for a request that a process would refuse.
func (r Request) Validate() error {
	switch {
	case r.FD < 3:
		return fmt.Errorf("protocol: fd=%d: records need a descriptor of their own", r.FD)
	case r.Strategy != "" && !slices.Contains(strategies, r.Strategy):
		return fmt.Errorf("protocol: there is no strategy %q, want one of %v", r.Strategy, strategies)
	case r.Time != "" && r.Time != TimeIdle && r.Time != TimeMixed && r.Time != TimeEarly:
		return fmt.Errorf("protocol: there is no time %q, want idle, mixed or early", r.Time)
	case r.Net != "" && r.Net != NetMemory && r.Net != NetReal:
		return fmt.Errorf("protocol: there is no net %q, want memory or real", r.Net)
	case slices.ContainsFunc(r.Faults, func(f string) bool { return !slices.Contains(faults, f) }):
		return fmt.Errorf("protocol: faults %v, want some of %v", r.Faults, faults)
	case len(r.Drops) > MaxDrops:
		return fmt.Errorf("protocol: %d drops, want at most %d", len(r.Drops), MaxDrops)
	case len(r.Switches) > MaxSwitches:
		return fmt.Errorf("protocol: %d switches, want at most %d", len(r.Switches), MaxSwitches)
	case r.Slack < 0 || r.Horizon < 0 || r.Budget < 0 || r.Detail < 0 || r.Bound < 0:
		return fmt.Errorf("protocol: a duration, detail or bound is negative")
	}
	return nil
}

// ParseRequest reads what Encode returns, as the controlled process does.
func ParseRequest(s string) (Request, error) {
	var r Request
	version := 0
	for word := range strings.FieldsSeq(s) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return Request{}, fmt.Errorf("protocol: %q: want key=value", word)
		}
		if key == "v" {
			version, _ = strconv.Atoi(value)
			continue
		}
		if err := r.set(key, value); err != nil {
			return Request{}, err
		}
	}
	if version != Version {
		return Request{}, fmt.Errorf("protocol: version %d, want %d", version, Version)
	}
	return r, r.Validate()
}

func (r *Request) set(key, value string) error {
	switch key {
	case "strategy":
		r.Strategy = value
		return nil
	case "time":
		r.Time = value
		return nil
	case "net":
		r.Net = value
		return nil
	case "faults":
		r.Faults = strings.Split(value, ",")
		return nil
	case "switches":
		var err error
		r.Switches, err = ParseSwitches(value)
		return err
	case "program":
		r.Program = value
		_, err := ParseProgram(value)
		return err
	case "drops":
		var err error
		r.Drops, err = parseParts(value)
		return err
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		return fmt.Errorf("protocol: %s=%s: want a number", key, value)
	}
	switch key {
	case "fd":
		r.FD = int(n)
	case "warm":
		r.Cold = n == 0
	case "seed":
		r.Seed = n
	case "first":
		r.First = n
	case "stride":
		r.Stride = n
	case "slack":
		r.Slack = time.Duration(n)
	case "steps":
		r.Steps = n
	case "horizon":
		r.Horizon = time.Duration(n)
	case "leaks":
		r.IgnoreLeaks = n == 0
	case "detail":
		r.Detail = int(n)
	case "longest":
		r.Longest = n
	case "largest":
		r.Largest = n
	case "fair":
		r.Fair = n
	case "bound":
		r.Bound = int(n)
	case "budget":
		r.Budget = time.Duration(n)
	default:
		return fmt.Errorf("protocol: there is no key %q", key)
	}
	return nil
}

// Environ returns base with the request and with the settings of the Go runtime that a
// controlled process needs: one processor, and the collector only at the memory limit.
// Later values win, so settings of the caller belong behind the result.
func (r Request) Environ(base []string) []string {
	if r.Program != "" {
		base = append(slices.Clone(base), EnvProgram+"="+r.Program)
	}
	return append(slices.Clone(base), Env+"="+r.Encode(),
		"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=2GiB", "GORACE=atexit_sleep_ms=0")
}

// TestFlags returns the flags that a controlled test binary needs to run n schedules
// besides -test.run. They end the process at the first failure.
func (r Request) TestFlags(n int) []string {
	if !r.Cold {
		n++
	}
	return []string{"-test.count=" + strconv.Itoa(n), "-test.failfast", "-test.timeout=0", "-test.parallel=8"}
}
