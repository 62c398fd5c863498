package release

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"time"

	"eventide/bench/gate/measure"
)

// A check is a command of head that has to succeed.
type check struct {
	tier string
	args []string
	why  func(output []byte) (Verdict, string) // of a command that failed
}

var checks = []check{
	{TierProperties, []string{"go", "test", "-json", "-run", "Prop", "-short", "./..."}, whyTests},
	{TierMutants, []string{"go", "run", "./props/cmd/mutants", "-short"}, whyCommand},
	{TierMutants, []string{"go", "run", "./props/cmd/mutants", "-auto-check"}, whyKept},
}

func whyTests(output []byte) (Verdict, string) { return readTestLog(output).verdict() }

func whyCommand(output []byte) (Verdict, string) { return Failed, measure.Tail(output) }

// whyKept is whyCommand for a command that may have too few kept runs to compare.
func whyKept(output []byte) (Verdict, string) {
	if bytes.HasPrefix(output, []byte("not run: ")) {
		return NotRun, measure.Tail(output)
	}
	return whyCommand(output)
}

func (c check) run(ctx context.Context, root string) (Finding, error) {
	f := Finding{Tier: c.tier, Benchmark: strings.Join(c.args, " "), Metric: "exit code", P: 1, Verdict: Pass}
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir = root
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return f, ctx.Err()
	}
	f.Note = time.Since(began).Round(time.Second).String()
	if err != nil {
		verdict, text := c.why(out)
		f.Verdict, f.Note = verdict, err.Error()+": "+text
	}
	return f, nil
}
