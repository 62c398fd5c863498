package model

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const traceDir = "../testdata/traces/model"

func readTraces(t *testing.T) map[string]Trace {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(traceDir, "*.trace"))
	noError(t, err, "")
	traces := map[string]Trace{}
	for _, file := range files {
		f, err := os.Open(file)
		noError(t, err, "")
		trace, err := ParseTrace(f)
		noError(t, f.Close(), file)
		noError(t, err, file)
		traces[strings.TrimSuffix(filepath.Base(file), ".trace")] = trace
	}
	return traces
}

// Every trace file gets the verdict that is written in it, and the name says
// which it is.
func TestTraces(t *testing.T) {
	good, bad := 0, 0
	for name, trace := range readTraces(t) {
		t.Run(name, func(t *testing.T) {
			equal(t, trace.Remembers != "", true, "the first line says which bug it remembers")
			equal(t, strings.HasPrefix(name, "bad-"), trace.Broken != "", "the name and the verdict")
			noError(t, trace.Check(), name)
		})
		good, bad = good+one(trace.Broken == ""), bad+one(trace.Broken != "")
	}
	if good < 6 || bad < 15 {
		t.Errorf("got %d good and %d bad traces, want at least 6 and 15", good, bad)
	}
}

// A verdict can be wrong: every good trace fails as a bad one, every bad trace
// fails as a good one and as one of another guarantee.
func TestTracesWithTheWrongVerdict(t *testing.T) {
	for name, trace := range readTraces(t) {
		t.Run(name, func(t *testing.T) {
			for _, broken := range []string{"", "G3", "G20"} {
				if broken != trace.Broken {
					wrong := trace
					wrong.Broken = broken
					if wrong.Check() == nil {
						t.Errorf("got nil with the verdict %q, want an error", broken)
					}
				}
			}
		})
	}
}

// Every kind of action stands in some good trace.
func TestTracesUseEveryKind(t *testing.T) {
	var seen kindSet
	for _, trace := range readTraces(t) {
		for _, a := range trace.Actions {
			if trace.Broken == "" {
				seen |= kinds(a.Kind)
			}
		}
	}
	equal(t, (everyKind &^ seen).String(), "", "kinds in no good trace")
}

func TestParseTraceErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"no verdict", "startOK\n", `expected a line "verdict: good" or "verdict: bad G3", got none`},
		{"unknown verdict", "verdict: fine\n", `line 1: verdict: expected "good" or "bad G3", got "fine"`},
		{"unknown guarantee", "verdict: bad G99\n", `line 1: verdict: expected "good" or "bad G3", got "bad G99"`},
		{"unknown header", "verdict: good\nspeed: 3\n", `line 2: expected verdict:, policy:, drain:, limit: or hidden:, got "speed:"`},
		{"late header", "verdict: good\nstartOK\nlimit: 3\n", `line 3: expected an action, got the header "limit" after the first action`},
		{"bad limit", "verdict: good\nlimit: -1\n", `line 2: limit: expected a number from 0, got "-1"`},
		{"bad policy", "verdict: good\npolicy: Never\n", `line 2: policy: expected one of CancelTimers|RunDueTimers|RunTimersUntilTimeout, got "Never"`},
		{"hidden call", "verdict: good\nhidden: submit\n", `line 2: hidden: expected one of startOK|startFail|loopFails|quietElapses|timeoutFires|discard|timerDies|loopCloses|done, got "submit"`},
		{"bad action", "verdict: good\n\n# fine\nsubmit 1 perhaps\n", `line 4: submit: expected one of accepted|refused:closed|refused:full|refused:startfailed|refused:starting, got "perhaps"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ParseTrace(strings.NewReader(tc.text))
			equal(t, text(err), tc.want, tc.name)
		})
	}
}
