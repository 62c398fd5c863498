package driver

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"eventide/props/interleave/protocol"
)

// A plainResult is what a run without control shows of the tests of a package.
type plainResult struct {
	results map[string][]string // PASS, FAIL and SKIP of each test's rounds
	running []string            // tests that had begun, were not paused and had not ended when the process ended
	alone   bool                // no other test had begun
	output  string
	err     string        // "" if the process ended with success
	cut     time.Duration // the process was killed after this time; 0 if it was not
	took    time.Duration
}

// plainLimit bounds the run without control, where sleeps take real time. A test that
// needs longer is explored all the same.
const plainLimit = 30 * time.Second

// With -test.v=test2json package testing marks its own lines by the byte 0x16.
var (
	resultLine  = regexp.MustCompile(`\x16--- (PASS|FAIL|SKIP): (\S+)`)
	markLine    = regexp.MustCompile(`\x16(?:=== (?:NAME|CONT|PAUSE).*\n?)?`)
	startOfTest = regexp.MustCompile(`\x16=== RUN   [^/\s]+\n`)
	startLine   = regexp.MustCompile(`\x16=== RUN   ([^/\s]+)$`)
	pauseLine   = regexp.MustCompile(`\x16=== (PAUSE|CONT) +([^/\s]+)$`)
)

// plain runs the selected tests of p twice in one process without control. Tests that
// fail in the first round cannot run here at all. Tests that fail only in the second
// cannot run twice in one process, as schedules do. most limits the time; 0 is
// plainLimit.
func (o *Options) plain(p *pkg, most time.Duration) (*plainResult, error) {
	return o.plainRun(p, o.Run, 2, most)
}

// plainRun runs the tests of p that match the pattern, rounds times in one process
// without control, for at most the time most; 0 is plainLimit.
func (o *Options) plainRun(p *pkg, pattern string, rounds int, most time.Duration) (*plainResult, error) {
	limit := min(plainLimit, o.Timeout/3)
	if most > 0 {
		limit = min(limit, most)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := append(o.testFlags(pattern), "-test.v=test2json", fmt.Sprint("-test.count=", rounds), "-test.timeout=0")
	cmd := exec.CommandContext(ctx, p.bin, append(args, o.Args...)...)
	cmd.Dir = p.Dir
	cmd.Env = append(controlledEnv(), protocol.EnvPlain+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.WaitDelay = time.Second
	out := &limitedBuffer{limit: outputLimit}
	cmd.Stdout, cmd.Stderr = out, out
	begin := time.Now()
	if err := startProcess(cmd); err != nil {
		return nil, err
	}
	defer endProcess(cmd)
	err := cmd.Wait()
	r := parsePlain(out.String())
	r.took = time.Since(begin)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		r.cut = limit
	case errors.As(err, &exit):
		r.err = exit.Error()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, err
	}
	return r, nil
}

func parsePlain(output string) *plainResult {
	r := &plainResult{results: map[string][]string{}, output: output}
	begun, paused := map[string]int{}, map[string]bool{}
	var order []string
	for _, line := range strings.Split(output, "\n") {
		if m := startLine.FindStringSubmatch(line); m != nil {
			if begun[m[1]] == 0 {
				order = append(order, m[1])
			}
			begun[m[1]]++
		}
		if m := pauseLine.FindStringSubmatch(line); m != nil {
			paused[m[2]] = m[1] == "PAUSE"
		}
		if m := resultLine.FindStringSubmatch(line); m != nil {
			r.results[m[2]] = append(r.results[m[2]], m[1])
		}
	}
	r.alone = len(order) == 1
	for _, name := range order {
		if begun[name] > len(r.results[name]) && !paused[name] {
			r.running = append(r.running, name)
		}
	}
	return r
}

// A plainState is what the run without control says of one test.
type plainState int

const (
	plainPassed  plainState = iota
	plainSkipped            // it skipped itself
	plainFailed             // its first round failed, or ended the process, or did not end
	plainOnce               // its first round passed and the second did not
	plainUnknown            // another test ended the process before, or the time was up
)

func (r *plainResult) state(name string) plainState {
	results := r.results[name]
	running := r.err != "" && slices.Contains(r.running, name)
	switch {
	case len(results) > 0 && results[0] == "FAIL" || len(results) == 0 && running:
		return plainFailed
	case len(results) == 0:
		return plainUnknown
	case results[0] == "SKIP":
		return plainSkipped
	case len(results) > 1 && results[1] == "FAIL" || running:
		return plainOnce
	}
	return plainPassed
}

// interrupted says whether the process ended during the test. The reason may be another
// test, so only a run of the test alone shows something about it.
func (r *plainResult) interrupted(name string) bool { return slices.Contains(r.running, name) }

// about returns what the run printed of a test, or why the process ended.
func (r *plainResult) about(name string) string {
	_, text, ok := strings.Cut(r.output, "\x16=== RUN   "+name+"\n")
	if !ok {
		return r.err
	}
	if next := startOfTest.FindStringIndex(text); next != nil && len(r.results[name]) > 0 {
		text = text[:next[0]]
	}
	text = strings.TrimSpace(markLine.ReplaceAllString(text, ""))
	if len(r.results[name]) == 0 && r.err != "" {
		text = r.err + "\n" + text
	}
	if lines := strings.Split(text, "\n"); len(lines) > mostOutput {
		text = strings.Join(lines[:mostOutput], "\n") + "\n..."
	}
	return text
}
