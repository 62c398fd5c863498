package exectest_test

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/internal/contract"
	"eventide/props/exectest"
	"eventide/props/exectest/subjects"
)

// TestMistakesAreCaught wants each mistake to break its own guarantee, for the right reason,
// and with something to read and to paste. Each mistake meets the programs and the runs
// without the log of its own guarantee and, if those do not show it, of the guarantee whose
// programs do. With -short it draws one mistake for each guarantee.
func TestMistakesAreCaught(t *testing.T) {
	for _, m := range sample(t, 1) {
		t.Run(m.Guarantee+" "+m.Name, func(t *testing.T) {
			if m.Rare {
				catchRare(t, m)
				return
			}
			row := exectest.Check(m.New, m.ShowingOptions()...).Row(m.Guarantee)
			if row.Status != exectest.Fail {
				t.Fatalf("%s is %v after %d programs and %d runs without the log, want a failure", m.Guarantee, row.Status, row.Programs, row.Hammers)
			}
			checkReport(t, m, row)
		})
	}
}

// TestMistakesBreakNothingElse wants the programs of the other guarantees to blame a mistake
// on nothing that is not about the same. Each guarantee runs a few programs here;
// go run ./props/cmd/rates runs all of them.
func TestMistakesBreakNothingElse(t *testing.T) {
	const rounds = 4
	for _, m := range sample(t, 2) {
		r := exectest.Check(m.New, append(m.AllOptions(), exectest.Rounds(rounds))...)
		if others := m.Others(r); len(others) > 0 {
			t.Errorf("%s %s: %v failed too, and of other guarantees it may break only %v:\n%s", m.Guarantee, m.Name, others, m.Also, r)
		}
	}
}

// seed is the seed of the samples that tests draw with -short.
var seed = flag.Uint64("sample", 0, "with -short, seed of the samples of mistakes; 0 takes one from the clock")

// sample returns all mistakes or, with -short, a random one of each guarantee. Streams give
// different tests different samples.
func sample(t *testing.T, stream uint64) []subjects.Mistake {
	all := subjects.Mistakes()
	if !testing.Short() {
		return all
	}
	from := *seed
	if from == 0 {
		from = uint64(time.Now().UnixNano())
	}
	t.Logf("one mistake of each guarantee: -sample %d", from)
	rng := rand.New(rand.NewPCG(from, stream))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(m subjects.Mistake) bool {
		before := seen[m.Guarantee]
		seen[m.Guarantee] = true
		return before
	})
}

// catchRare runs the kit for the mistake's guarantee, in virtual and in real time, with one
// seed after the other until a run fails. On two free processors the first run nearly always
// fails. On a busy machine a whole run can pass without a goroutine inside the gap of a few
// instructions.
func catchRare(t *testing.T, m subjects.Mistake) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("with one processor nobody steps into a gap of a few instructions")
	}
	clocks := []string{"virtual"}
	if m.Guarantee == "G3" {
		clocks = append(clocks, "real") // only virtual time tells a lost wake-up
	}
	for _, clock := range clocks {
		catchRareBy(t, m, clock)
	}
}

func catchRareBy(t *testing.T, m subjects.Mistake, clock string) {
	const seeds = 20
	opts := append(m.AllOptions(), exectest.Only(m.Guarantee))
	if clock == "real" {
		opts = append(opts, exectest.RealTime())
	}
	for seed := range uint64(seeds) {
		row := exectest.Check(m.New, append(slices.Clone(opts), exectest.Seed(seed+1))...).Rows[0]
		if row.Status == exectest.Fail {
			t.Logf("found in default run %d in %s time, by %d programs and %d runs without the log", seed+1, clock, row.Programs, row.Hammers)
			checkReport(t, m, row)
			return
		}
	}
	t.Errorf("%s passes in %d default runs in %s time, want a failure", m.Guarantee, seeds, clock)
}

func checkReport(t *testing.T, m subjects.Mistake, row exectest.Row) {
	t.Helper()
	if !strings.Contains(row.Text, m.Text) {
		t.Errorf("got %q, want it to contain %q", row.Text, m.Text)
	}
	for _, part := range []string{"\n" + m.Guarantee + ": " + contract.Sentence(m.Guarantee) + ".\n", "\nreplay  exectest.Check(factory, exectest.Only("} {
		if !strings.Contains(row.Report, part) {
			t.Errorf("got the report\n%s\nwant it to contain %q", row.Report, part)
		}
	}
	if !strings.Contains(row.Report, "\ntrace\n") && !strings.Contains(row.Report, "(t *testing.T) {") {
		t.Errorf("got the report\n%s\nwant a trace or a test", row.Report)
	}
}
