package history_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eventide/props/history"
)

const traceDir = "../../testdata/traces/history"

// traces reads every kept trace, by file name.
func traces(t *testing.T) map[string]history.Trace {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(traceDir, "*.trace"))
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]history.Trace{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := history.Parse(f)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		kept[strings.TrimSuffix(filepath.Base(file), ".trace")] = tr
	}
	return kept
}

// TestTraces judges every kept trace and compares with the verdict inside. The
// bad ones are also the proof that each check can fail.
func TestTraces(t *testing.T) {
	good, bad := 0, 0
	for name, tr := range traces(t) {
		t.Run(name, func(t *testing.T) {
			if err := tr.Judge(); err != nil {
				t.Error(err)
			}
			if !strings.HasPrefix(name, "bad-") {
				good++
				return
			}
			bad++
			if len(tr.Verdict) > 1 && tr.Because == "" {
				t.Error("it breaks more than one predicate and does not say why (because: ...)")
			}
			if text := strings.Join(tr.Comments, "\n"); !strings.Contains(text, "remembers: netty ") && !strings.Contains(text, "remembers: package time") {
				t.Error("a bad trace says which Netty issue or rule it remembers, or that it is about Timer.Reset, which Netty does not have")
			}
		})
	}
	if good < 8 || bad < 30 {
		t.Errorf("%d good and %d bad traces, want at least 8 and 30", good, bad)
	}
}

// TestEveryPredicateCanFail wants, for each predicate, a bad trace that breaks
// it and nothing else, and a good trace on which its premise occurs.
func TestEveryPredicateCanFail(t *testing.T) {
	var alone, passed []string
	for _, tr := range traces(t) {
		if len(tr.Verdict) == 1 {
			alone = append(alone, tr.Verdict[0].Predicate)
		}
		h, err := history.Of(tr.Events, tr.Rules)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range h.Check() {
			if v.Status == history.Passed && len(tr.Verdict) == 0 {
				passed = append(passed, v.Predicate.Name)
			}
		}
	}
	for _, p := range history.Predicates() {
		if !slices.Contains(alone, p.Name) {
			t.Errorf("%s (%s): no bad trace breaks it alone", p.Name, p.Sentence)
		}
		if !slices.Contains(passed, p.Name) {
			t.Errorf("%s (%s): no good trace exercises it", p.Name, p.Sentence)
		}
	}
}

// TestVerdictMatters changes the verdict of each trace and wants Judge to object.
func TestVerdictMatters(t *testing.T) {
	for name, tr := range traces(t) {
		if len(tr.Verdict) > 0 {
			tr.Verdict = nil
		} else {
			tr.Verdict = []history.Blame{{Guarantee: "G3", Predicate: "S2"}}
		}
		if tr.Judge() == nil {
			t.Errorf("%s: judged as %v, which it is not", name, tr.Verdict)
		}
	}
}
