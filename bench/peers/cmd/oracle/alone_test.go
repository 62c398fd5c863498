package main

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"eventide/props/netty"
)

// recordings are the first of testdata/netty.
func recordings(t *testing.T, n int) []netty.Record {
	t.Helper()
	file, err := os.Open("../../../../testdata/netty/programs.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_, records, err := netty.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return records[:n]
}

// fake is a Netty that does what was recorded, but with some programs something else.
type fake struct {
	traces map[int]netty.Trace // by number of the program
	texts  map[int]string      // the programs as they were recorded
	breaks func(p *netty.Program, alone, wide bool) bool
	late   func(p *netty.Program, run int) bool
	runs   map[int]int
}

func newFake(records []netty.Record) *fake {
	f := &fake{traces: map[int]netty.Trace{}, texts: map[int]string{}, runs: map[int]int{}}
	for _, r := range records {
		f.traces[r.Program.ID], f.texts[r.Program.ID] = r.Netty, r.Program.String()
	}
	return f
}

func (f *fake) play(programs []*netty.Program) (map[int]netty.Trace, error) {
	traces := map[int]netty.Trace{}
	for i, p := range programs {
		f.runs[p.ID]++
		if f.late != nil && f.late(p, f.runs[p.ID]) {
			continue
		}
		trace := f.traces[p.ID]
		if f.breaks != nil && f.breaks(p, len(programs) == 1, p.String() != f.texts[p.ID]) {
			trace.End = slices.Replace(slices.Clone(trace.End), len(trace.End)-1, len(trace.End), "end=2")
		}
		traces[i] = trace
	}
	return traces, nil
}

// wideProgram is the first program that allows wider times, or does not.
func wideProgram(t *testing.T, records []netty.Record, allows bool) int {
	t.Helper()
	for _, r := range records {
		for _, factor := range wideFactors {
			if _, ok := netty.Widen(r.Program, factor); ok == allows && (ok || factor == wideFactors[len(wideFactors)-1]) {
				return r.Program.ID
			}
		}
	}
	t.Fatal("no such program")
	return 0
}

// TestLateUnderLoadDoesNotCount: a program whose outcome time decides while others run
// is run again alone, and only what repeats then counts.
func TestLateUnderLoadDoesNotCount(t *testing.T) {
	records := recordings(t, 40)
	widens, fixed := wideProgram(t, records, true), wideProgram(t, records, false)
	for name, c := range map[string]struct {
		breaks func(p *netty.Program, alone, wide bool) bool
		wrong  int
		judged int
		says   string
	}{
		"nothing": {func(*netty.Program, bool, bool) bool { return false }, 0, 40,
			"0 had an outcome that no rule predicts"},
		"late among others": {func(p *netty.Program, alone, _ bool) bool { return p.ID == fixed && !alone }, 0, 40,
			"1 had an outcome that no rule predicts, and ran again alone: 1 were then as predicted, 0 only with wider times and are left out, 0 remained"},
		"late alone too, not with wider times": {func(p *netty.Program, _, wide bool) bool { return p.ID == widens && !wide }, 0, 39,
			"ran again alone: 0 were then as predicted, 1 only with wider times and are left out, 0 remained"},
		"always, no wider times": {func(p *netty.Program, _, _ bool) bool { return p.ID == fixed }, 1, 40,
			"0 only with wider times and are left out, 1 remained"},
		"always": {func(p *netty.Program, _, _ bool) bool { return p.ID == widens }, 1, 40,
			"0 were then as predicted, 0 only with wider times and are left out, 1 remained"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(records)
			f.breaks = c.breaks
			verdicts, recorded, said, err := judged(f, records)
			if err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for _, v := range verdicts {
				wrong += min(1, len(v.Wrong))
			}
			if wrong != c.wrong || len(verdicts) != c.judged || len(recorded) != c.judged {
				t.Errorf("got %d verdicts, %d recordings, %d unpredicted; want %d, %d, %d", len(verdicts), len(recorded), wrong, c.judged, c.judged, c.wrong)
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("got %q, want %q in it", said, c.says)
			}
		})
	}
}

// TestLateAloneIsRunAgain: a run in which the machine did not keep the times does not
// count alone either; and one outcome by itself is none.
func TestLateAloneIsRunAgain(t *testing.T) {
	records := recordings(t, 2)
	f := newFake(records)
	f.breaks = func(p *netty.Program, alone, _ bool) bool { return p.ID == 0 && (!alone || f.runs[0] == 5) }
	f.late = func(p *netty.Program, run int) bool { return run == 3 || run == 4 }
	verdicts, _, _, err := judged(f, records)
	if err != nil || len(verdicts[0].Wrong) > 0 {
		t.Errorf("got %v, %v; want what the last two runs agree on", verdicts, err)
	}
	if f.runs[0] != 7 {
		t.Errorf("got %d runs, want 7: two among others, two late, one by itself, two that agree", f.runs[0])
	}
}

// TestNeverTwiceTheSame: a program that never agrees with itself alone is an error.
func TestNeverTwiceTheSame(t *testing.T) {
	records := recordings(t, 2)
	f := newFake(records)
	f.breaks = func(p *netty.Program, alone, _ bool) bool { return p.ID == 0 && (!alone || f.runs[0]%2 == 0) }
	if _, _, _, err := judged(f, records); err == nil || !strings.Contains(err.Error(), "alone, a program has not had the same outcome twice in a row") {
		t.Errorf("got %v", err)
	}
}

func judged(f *fake, records []netty.Record) ([]netty.Verdict, []netty.Record, string, error) {
	var said bytes.Buffer
	o := &oracle{play: f.play, core: onCore, out: &said, progress: io.Discard}
	var programs []*netty.Program
	for _, r := range records {
		programs = append(programs, r.Program)
	}
	verdicts, recorded, err := o.judge(programs, nil)
	return verdicts, recorded, said.String(), err
}
