package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"eventide/props/interleave/evidence"
)

// wrappers runs each kernel and each twin below goleak, and in a bubble.
var wrappers = template.Must(template.New("").Parse(`package kernels

import (
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

var wrapped = map[string]func(*testing.T){
{{range .}}	"{{.}}": {{.}},
	"{{.}}Repaired": {{.}}Repaired,
{{end}}}

func TestGoleak(t *testing.T) {
	for name, f := range wrapped {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			f(t)
		})
	}
}

func TestSynctest(t *testing.T) {
	for name, f := range wrapped {
		t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
	}
}
`))

// writeWrappers writes a file of tests that belongs into the package in dir, and returns
// the name of an overlay for go test that puts it there.
func writeWrappers(scratch, dir string, names []string) (string, error) {
	var text bytes.Buffer
	if err := wrappers.Execute(&text, names); err != nil {
		return "", err
	}
	source, list := filepath.Join(scratch, "_wrappers.go"), filepath.Join(scratch, "wrappers.json")
	into, err := filepath.Abs(filepath.Join(dir, "wrappers_test.go"))
	if err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{into: source}})
	if err != nil {
		return "", err
	}
	return list, errors.Join(os.WriteFile(source, text.Bytes(), 0o644), os.WriteFile(list, replace, 0o644))
}

// tool gives a kernel and its twin to another tool.
func (l *laboratory) tool(row *evidence.Row, t *evidence.Tool) error {
	for range l.limits.Batches {
		n, how, err := l.batch(t.Tool, row.Kernel)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", row.Kernel, t.Tool, err)
		}
		if how == "" {
			n = 0
		}
		t.Runs = append(t.Runs, n)
		count(&t.How, how)
		if _, how, err = l.batch(t.Tool, row.Kernel+repaired); err != nil {
			return fmt.Errorf("%s%s, %s: %w", row.Kernel, repaired, t.Tool, err)
		}
		count(&t.Twin, how)
	}
	return nil
}

func count(counts *map[string]int, how string) {
	if how == "" {
		return
	}
	if *counts == nil {
		*counts = map[string]int{}
	}
	(*counts)[how]++
}

// batch runs a test again and again in one process until it fails, and returns the
// number of runs and how it failed; "" if it did not.
func (l *laboratory) batch(tool, test string) (runs int, how string, err error) {
	b, pattern := l.plain, "^"+test+"$"
	switch tool {
	case evidence.GoRace:
		b = l.race
	case evidence.Goleak:
		b, pattern = l.wrappers, "^TestGoleak$/^"+test+"$"
	case evidence.Synctest:
		b, pattern = l.wrappers, "^TestSynctest$/^"+test+"$"
	}
	timeout := time.Duration(l.limits.Timeout * float64(time.Second))
	ctx, cancel := context.WithTimeout(context.Background(), 3*timeout) // a process that cannot run its own timeout
	defer cancel()
	cmd := exec.CommandContext(ctx, b.name, "-test.v", "-test.failfast", "-test.run="+pattern,
		fmt.Sprint("-test.count=", l.limits.Runs), fmt.Sprint("-test.timeout=", timeout))
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.dir, append(os.Environ(), "GORACE=atexit_sleep_ms=0"), time.Second
	out, err := cmd.CombinedOutput()
	runs = countRuns(string(out), test)
	var exit *exec.ExitError
	switch {
	case runs == 0:
		return 0, "", fmt.Errorf("the batch did not run the test: %w\n%s", err, out)
	case err == nil:
		return runs, "", nil
	case !errors.As(err, &exit):
		return 0, "", err
	case ctx.Err() != nil:
		return runs, hung, nil
	}
	return runs, howFailed(string(out)), nil
}

// countRuns counts the runs of a test or subtest in the output of go test -v.
func countRuns(output, test string) int {
	n := 0
	for line := range strings.Lines(output) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "=== RUN   ")
		if ok && name[strings.LastIndex(name, "/")+1:] == test {
			n++
		}
	}
	return n
}

// hung is how a batch fails that did not end.
const hung = "hung"

// failures are marks in the output of a test binary, with how a batch failed that has
// them. The first one counts.
var failures = []struct{ mark, how string }{
	{"WARNING: DATA RACE", "race"},
	{"found unexpected goroutines", "leak"},
	{"main bubble goroutine has exited but blocked goroutines remain", "leak"},
	{"all goroutines in bubble are blocked", "deadlock"},
	{"all goroutines are asleep - deadlock!", "deadlock"},
	{"panic: test timed out", hung},
	{"panic: ", "panicked"},
	{"fatal error: ", "panicked"},
}

func howFailed(output string) string {
	for _, f := range failures {
		if strings.Contains(output, f.mark) {
			return f.how
		}
	}
	return "failed"
}
