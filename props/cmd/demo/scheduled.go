package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bank is the program of docs/interleave.md.
//
//go:embed testdata/bank_test.go.txt
var bank string

const bankModule = "module example.com/bank\n\ngo 1.26.0\n"

const (
	plainRuns  = 1000
	shownSteps = 5 // of the schedule: those of the two goroutines that wait for each other
)

// scheduled is the third part: it runs the tests of a module of its own with the go command
// and with the command interleave.
func scheduled(root string) ([]string, error) {
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, text := range map[string]string{"go.mod": bankModule, "bank_test.go": bank} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	tool := filepath.Join(dir, "interleave")
	build := exec.Command("go", "build", "-o", tool, "./props/cmd/interleave")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	plain, err := output(dir, "go", "test", fmt.Sprintf("-count=%d", plainRuns), "-timeout=10s") // it hangs if it meets the deadlock
	if err != nil {
		return nil, err
	}
	chosen, err := output(dir, tool, "test", "-failfast")
	if err != nil {
		return nil, err
	}
	return explainSchedule(plain, chosen)
}

// output returns what a command prints, whatever its exit code.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return "", err
	}
	return string(out), nil
}

// explainSchedule takes the lines of a finding that a reader needs: what happened, how soon it
// was found, and the schedule.
func explainSchedule(plain, chosen string) ([]string, error) {
	verdict := "finds the bug too"
	switch {
	case strings.Contains(plain, "\nok "):
		verdict = "passes"
	case strings.Contains(plain, "test timed out"):
		verdict = "hangs until its time limit"
	}
	lines := []string{fmt.Sprintf("go test -count=%d %s", plainRuns, verdict)}
	deadlock, found, inSchedule := "", "", false
	var header string
	var steps []string
	for line := range strings.Lines(chosen) {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "deadlock: "):
			deadlock = text
		case strings.HasPrefix(text, "found in schedule "):
			found, _, _ = strings.Cut(text, ", and ")
			lines = append(lines, "interleave test: "+strong+deadlock+strong, found)
		case strings.HasPrefix(text, "schedule, in the order"):
			inSchedule = true
		case inSchedule && strings.HasPrefix(text, "time "):
			_, header, _ = strings.Cut(text, "|")
		case inSchedule && strings.Count(text, "|") >= 3:
			_, columns, _ := strings.Cut(text, "|")
			steps = append(steps, columns)
		default:
			inSchedule = false
		}
	}
	if deadlock == "" || found == "" || header == "" || len(steps) < shownSteps {
		return nil, fmt.Errorf("interleave found no deadlock:\n%s", chosen)
	}
	lines = append(lines, "its last steps, with a column for each goroutine:", strings.TrimSpace(header))
	for _, columns := range steps[len(steps)-shownSteps:] {
		lines = append(lines, strings.TrimRight(strings.TrimPrefix(columns, " "), " "))
	}
	return lines, nil
}
