package lane

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"eventide/props/internal/runner"
)

// Result is the last line that the program printed, and how it ended.
type Result struct {
	Lane      string            `json:"lane,omitempty"`
	Seed      uint64            `json:"seed"`
	Seconds   float64           `json:"seconds"`
	Runs      int               `json:"runs"`
	Undecided int               `json:"undecided"`
	Exercised map[string]int    `json:"exercised"`
	Failed    map[string]string `json:"failed"`                      // by guarantee: what was found
	Seen      map[string]string `json:"seen,omitempty"`              // by guarantee: found in a run that is not made smaller yet; of the virtual lane
	Processor float64           `json:"processor_seconds,omitempty"` // that the runs took; other load on the machine does not change it

	Faults map[string]int64 `json:"faults,omitempty"` // of the real lane: how often each was injected into a system call

	// Of the interleave lane, whose runs are schedules.
	Shard       string         `json:"shard,omitempty"` // from 1
	Scenarios   int            `json:"scenarios,omitempty"`
	Classes     int            `json:"classes"` // that differ in what happens before what
	Histories   int            `json:"histories,omitempty"`
	Unrefined   int            `json:"unrefined,omitempty"` // judged by the predicates, not by the model
	Steps       int            `json:"steps,omitempty"`
	StepsPerSec float64        `json:"steps_per_second"`           // that passed
	StepRate    float64        `json:"steps_per_processor_second"` // with the judge, like Rate
	Exhausted   *Exhausted     `json:"exhausted"`
	Speed       []Speed        `json:"speed"`          // of the scheduler alone: nothing is judged
	Fairness    map[string]int `json:"needs_fairness"` // by place: schedules in which a goroutine was made to give way
	FoundBy     string         `json:"found_by,omitempty"`
	Schedule    int            `json:"schedule,omitempty"` // that found it
	Switches    int            `json:"switches,omitempty"` // of it, made smaller
	Coverage

	Ending Ending `json:"-"`
	Output string `json:"-"` // what it printed besides such lines, the first of it
}

// Rate returns the runs per second of processor time; 0 if it is not known.
func (r Result) Rate() float64 {
	if r.Processor <= 0 {
		return 0
	}
	return float64(r.Runs) / r.Processor
}

// Print prints a line that Run reads.
func (r Result) Print(w io.Writer) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s%s\n", lineMark, text)
	return err
}

// Ending says how the program ended.
type Ending uint8

// The endings. A Result counts in each of them: it says what was seen until then.
const (
	Ended   Ending = iota // by itself, or because it had said enough
	Hung                  // it was killed: see Run.Stall and Run.Budget
	Crashed               // a panic, or a fatal error of the runtime
)

// Run is one execution of the program. Bin, Budget and Seed have to be set.
type Run struct {
	Bin    string
	Lane   string        // the test that is the lane; "": that of the virtual one
	Only   string        // one guarantee, or "" for all
	Budget time.Duration // how long; it is killed some time after that
	Seed   uint64        // base of the seeds
	Args   []string      // more arguments
	Env    []string      // more of the environment: "NAME=value"

	MaxMemory int64 // resident bytes: a program that has more is killed, and counts as crashed; 0: no limit

	Cases string            // where it keeps failing programs; "": where the tests do
	Stall time.Duration     // silence for so long is a hang; 0: as long as Budget allows
	Hear  func(Result)      // each line as it comes
	Until func(Result) bool // ends the run as soon as a line satisfies it
}

// ErrSilent is a program that ended without having run anything: it has shown
// nothing.
type ErrSilent struct {
	Ending Ending
	Output string
}

func (e ErrSilent) Error() string { return "the lane printed no result:\n" + e.Output }

// Do runs the program and returns its last line. Violations, a hang and a crash
// are no errors of Do; a program that says nothing is one, ErrSilent. It waits for
// the end of the program.
func (r Run) Do(root string) (Result, error) {
	if r.Cases != "" {
		cases, err := filepath.Abs(r.Cases) // the program runs somewhere else
		if err != nil {
			return Result{}, err
		}
		r.Cases = cases
	}
	cmd := r.command(root)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return Result{}, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return Result{}, err
	}
	w := r.watch(cmd.Process)
	full := func() bool { return false }
	if r.MaxMemory > 0 {
		full = runner.KillAbove(cmd.Process, r.MaxMemory)
	}
	last, err := r.read(pipe, w)
	w.stop()
	_ = cmd.Wait() // exit status 1 is what violations look like; the lines say it better
	last.Ending = w.ending(cmd.ProcessState)
	if full() {
		last.Ending = Crashed
	}
	switch {
	case err != nil:
		return Result{}, err
	case last.Runs == 0 && len(last.Failed) == 0 && !last.exhausting():
		return last, ErrSilent{last.Ending, last.Output}
	}
	return last, nil
}

// exhausting reports whether the lane has run schedules of its exhaustive search, which Runs
// does not include.
func (r Result) exhausting() bool { return r.Exhausted != nil && r.Exhausted.Schedules > 0 }

// stacks returns the environment in which a goroutine begins with a stack of the mean size. Most
// goroutines of a lane live for one program and would grow their stack, for a tenth of its time.
func stacks(debug string) string {
	return "GODEBUG=" + strings.TrimPrefix(debug+",adaptivestackstart=1", ",")
}

func (r Run) command(root string) *exec.Cmd {
	test := r.Lane
	if test == "" {
		test = "TestLane"
	}
	cmd := exec.Command(r.Bin, append([]string{"-test.run", "^" + test + "$", "-test.timeout", "0"}, r.Args...)...)
	cmd.Dir = filepath.Join(root, "props")
	cmd.Env = append(append(os.Environ(), r.Env...), stacks(os.Getenv("GODEBUG")),
		"EVENTIDE_LANE_BUDGET="+r.Budget.String(), "EVENTIDE_LANE_ONLY="+r.Only,
		"EVENTIDE_LANE_SEED="+strconv.FormatUint(r.Seed, 10))
	if r.Cases != "" {
		cmd.Env = append(cmd.Env, "EVENTIDE_CASES="+r.Cases)
	}
	return cmd
}

// lineMark begins the lines of JSON among the output of the tests.
var lineMark = []byte("@@")

// maxOutput bounds what is kept of the rest of the output.
const maxOutput = 1 << 20

func (r Run) read(from io.Reader, w *watchdog) (last Result, err error) {
	var text bytes.Buffer
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 1<<20), 64<<20)
	for lines.Scan() {
		line, marked := bytes.CutPrefix(lines.Bytes(), lineMark)
		if !marked {
			if text.Len() < maxOutput {
				text.Write(append(line, '\n'))
			}
			continue
		}
		var next Result
		if err := json.Unmarshal(line, &next); err != nil {
			if w.fired() {
				break // it was cut off
			}
			return last, fmt.Errorf("a line of the lane: %w: %s", err, line)
		}
		last = next
		w.heard()
		if r.Hear != nil {
			r.Hear(last)
		}
		if r.Until != nil && r.Until(last) {
			w.enough()
		}
	}
	last.Output = text.String()
	return last, lines.Err()
}
