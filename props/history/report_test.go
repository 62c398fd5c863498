package history_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventide/props/history"
)

var update = flag.Bool("update", false, "write the golden files of this package anew")

// TestReport compares the story of three violations with what a person agreed to.
func TestReport(t *testing.T) {
	for _, name := range []string{
		"bad-9603-task-lost-at-termination",
		"bad-r117-timeout-postponed",
		"bad-r119-hook-chain",
	} {
		t.Run(name, func(t *testing.T) {
			tr := traces(t)[name]
			h, err := history.Of(tr.Events, tr.Rules)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := history.Report(&b, h, h.Violations()[0], "go test ./props/history -run '^TestReport$/^"+name+"$'"); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", name+".report"), b.String())
		})
	}
}

// TestColumnsNameGoroutines has ids as the runtime gives them: the loop is the
// one that runs bodies and makes no call of its own.
func TestColumnsNameGoroutines(t *testing.T) {
	events := []history.Event{
		{G: 71, Kind: history.Invoke, Op: history.OpExecute, ID: 1},
		{G: 71, Kind: history.Return, Op: history.OpExecute, ID: 1, Call: 1, Outcome: history.Accepted},
		{G: 12, Kind: history.Begin, Body: history.BodyTask, ID: 1, InLoop: true},
		{G: 12, Kind: history.End, Body: history.BodyTask, ID: 1, Outcome: history.Exited, InLoop: true},
		{G: 90, Kind: history.Park, Deadline: history.Never, Next: history.Never},
		{G: 33, Kind: history.Observe, Op: history.OpDone, Outcome: history.False},
	}
	var b strings.Builder
	if err := history.Columns(&b, mustIndex(t, events, history.Rules{}), 4); err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", "columns.golden"), b.String())
}

// mustIndex numbers the events and indexes them.
func mustIndex(t *testing.T, events []history.Event, rules history.Rules) *history.History {
	t.Helper()
	for i := range events {
		events[i].N = i + 1
	}
	h, err := history.Of(events, rules)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s\n(go test ./props/history -update writes it anew)", file, got, want)
	}
}

// TestReportPassesErrorsOn wants the writer's error, wherever it comes.
func TestReportPassesErrorsOn(t *testing.T) {
	tr := traces(t)["bad-9603-task-lost-at-termination"]
	h, err := history.Of(tr.Events, tr.Rules)
	if err != nil {
		t.Fatal(err)
	}
	for room := range 40 {
		w := &narrow{room: room}
		if err := history.Report(w, h, h.Violations()[0], "replay"); w.full && !errors.Is(err, errFull) {
			t.Errorf("after %d writes: got %v, want %v", room, err, errFull)
		}
	}
}

var errFull = errors.New("full")

// narrow takes so many writes and fails the next.
type narrow struct {
	room int
	full bool
}

func (n *narrow) Write(p []byte) (int, error) {
	if n.room--; n.room < 0 {
		n.full = true
		return 0, errFull
	}
	return len(p), nil
}
