package main

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
)

// laneResult is the last line that a lane printed.
type laneResult struct {
	Seed      uint64            `json:"seed"`
	Seconds   float64           `json:"seconds"`
	Runs      int               `json:"runs"`
	Undecided int               `json:"undecided"`
	Exercised map[string]int    `json:"exercised"`
	Failed    map[string]string `json:"failed"`
}

// buildLane builds the test binary of the properties, with an overlay if one is
// given.
func (v *verification) buildLane(name, overlay string) (string, error) {
	bin, err := filepath.Abs(filepath.Join(v.out, "bin", name+".test"))
	if err != nil {
		return "", err
	}
	args := []string{"test", "-c", "-vet=off", "-tags", "verify", "-o", bin}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.Command("go", append(args, "./props")...)
	cmd.Dir = v.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c of %s: %w\n%s", name, err, out)
	}
	return bin, nil
}

// laneRun is one execution of a lane binary.
type laneRun struct {
	bin    string
	only   string // a guarantee, or "" for all
	budget time.Duration
	seed   uint64
	hear   func(laneResult) // each line as it comes
}

// errSilent is a lane that ended without a line: it has shown nothing.
type errSilent struct{ output string }

func (e errSilent) Error() string { return "the lane printed no result:\n" + e.output }

// run runs the binary. A lane that finds violations is not an error of run; one
// that says nothing is. It is killed some time after its budget, as a planted bug
// may keep it from ending: what it said until then counts.
func (r laneRun) run(root string) (laneResult, error) {
	cmd := exec.Command(r.bin, "-test.run", "^TestLane$", "-test.timeout", "0")
	cmd.Dir = filepath.Join(root, "props")
	cmd.Env = append(os.Environ(),
		"EVENTIDE_LANE_BUDGET="+r.budget.String(), "EVENTIDE_LANE_ONLY="+r.only,
		"EVENTIDE_LANE_SEED="+strconv.FormatUint(r.seed, 10))
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return laneResult{}, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return laneResult{}, err
	}
	kill := time.AfterFunc(r.budget+r.budget/2+5*time.Second, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	last, output, err := r.read(pipe)
	_ = cmd.Wait() // exit status 1 is what violations look like; the lines say it better
	if err != nil {
		return laneResult{}, err
	}
	if last.Runs == 0 && len(last.Failed) == 0 {
		return last, errSilent{output}
	}
	return last, nil
}

// lineMark begins the lines of JSON among the output of the tests.
const lineMark = "@@"

func (r laneRun) read(from io.Reader) (last laneResult, output string, err error) {
	var text bytes.Buffer
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 1<<20), 64<<20)
	for lines.Scan() {
		line, marked := strings.CutPrefix(lines.Text(), lineMark)
		if !marked {
			if text.Len() < 1<<20 {
				text.WriteString(line + "\n")
			}
			continue
		}
		last = laneResult{}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			return last, "", fmt.Errorf("a line of the lane: %w: %s", err, line)
		}
		if r.hear != nil {
			r.hear(last)
		}
	}
	return last, text.String(), lines.Err()
}

// runLane runs all properties for the whole budget.
func (v *verification) runLane() error {
	bin, err := v.buildLane("props", "")
	if err != nil {
		return err
	}
	v.lane, err = laneRun{bin: bin, budget: v.left(), seed: v.seed, hear: func(l laneResult) {
		v.live.lane(l, v.left())
	}}.run(v.root)
	return err
}
