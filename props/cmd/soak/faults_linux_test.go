package main

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"eventide/core"
	"eventide/props/faults"
	"eventide/props/faults/overlay"
)

// TestSoakInjectsFaults builds the command with faults, and wants rounds of it to find nothing, and the summary
// to count faults.
func TestSoakInjectsFaults(t *testing.T) {
	bin, err := overlay.Build("../../..", t.TempDir(), "props/cmd/soak", "soak")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(bin, "-rounds", "20", "-for", "1h", "-state", "").CombinedOutput()
	summary := string(out)
	if err != nil || !strings.Contains(summary, "\n20 rounds of seed 1 in ") || !strings.Contains(summary, " 0 found\n") {
		t.Errorf("the soak with faults: %v\n%s", err, summary)
	}
	for _, k := range []faults.Kind{faults.PollEINTR, faults.SendEINTR} { // the most frequent ones
		if !strings.Contains(summary, " times "+k.String()+"\n") || strings.Contains(summary, "       0 times "+k.String()+"\n") {
			t.Errorf("the summary has no %v:\n%s", k, summary)
		}
	}
}

// TestFaultsThatNeverOccurAreFound: after enough rounds a kind that was never injected is a finding, and before
// it is none. The summary of a program without faults says so.
func TestFaultsThatNeverOccurAreFound(t *testing.T) {
	o := outcome{faults: map[string]int64{"send EPIPE": 0, "send short": 1}}
	total := &totals{Lifecycles: map[string]int{}}
	for range enoughRounds - 1 {
		total.add(o)
	}
	if total.exercised(); len(total.Found) != 0 {
		t.Errorf("after %d rounds found %q", total.FaultRounds, total.Found)
	}
	total.add(o)
	if total.exercised(); len(total.Found) != 1 || !strings.Contains(total.Found[0], "send EPIPE was never injected in 200 rounds") {
		t.Errorf("after %d rounds found %q", total.FaultRounds, total.Found)
	}
	if text := total.summary(); !strings.Contains(text, "     200 times send short\n") {
		t.Errorf("the summary lacks the counts:\n%s", text)
	}
	without := &totals{}
	if text := without.summary(); !strings.Contains(text, "built without them") {
		t.Errorf("the summary of a program without faults does not say so:\n%s", text)
	}
}

// TestAccountsFindLostBytes plants wrong ends of writes and channels.
func TestAccountsFindLostBytes(t *testing.T) {
	for want, plant := range map[string]func(*account){
		"":                                func(a *account) { a.result(9, 4, core.ErrShutdown, false) },
		"ended with 9 and":                func(a *account) { a.result(9, 9, core.ErrShutdown, false); a.unsent = 5 },
		"ended with 4 and <nil>":          func(a *account) { a.result(9, 4, nil, false) },
		"a refused write sent 4":          func(a *account) { a.result(9, 4, core.ErrShutdown, true) },
		"0 of 1 writes have a result":     func(*account) {},
		"2 of 1 writes have a result":     func(a *account) { a.result(9, 4, core.ErrShutdown, false); a.result(9, 9, nil, false) },
		"Unregistered was not called":     func(a *account) { a.result(9, 4, core.ErrShutdown, false); a.ended = false },
		"5 discarded bytes, and those of": func(a *account) { a.result(9, 3, core.ErrShutdown, false) },
	} {
		a := &account{remote: "peer", writes: 1, ended: true, late: true, cause: core.ErrShutdown}
		plant(a)
		all := accounts{all: []*account{a}}
		_, broken := all.judge(core.Report{BytesDiscarded: 5}, false)
		if (broken == "") != (want == "") || !strings.Contains(broken, want) {
			t.Errorf("got %q, want %q", broken, want)
		}
	}
}

// TestClientsThatLackBytesAreFound: a client that reads everything and does not get it is a violation, unless the
// shutdown or an injected fault explains it.
func TestClientsThatLackBytesAreFound(t *testing.T) {
	c := &connections{}
	c.accounts.add(&account{remote: "peer", ended: true})
	for _, tc := range []struct {
		name   string
		r      clientResult
		failed bool
		early  bool
		found  bool
	}{
		{"all bytes", clientResult{local: "peer", whole: true}, false, false, false},
		{"too few", clientResult{local: "peer"}, false, false, true},
		{"no channel", clientResult{local: "unknown"}, false, false, true},
		{"a hang", clientResult{local: "peer", err: context.DeadlineExceeded}, false, false, true},
		{"other bytes", clientResult{local: "peer", whole: true, wrong: true}, false, false, true},
		{"rude", clientResult{local: "peer", rude: true}, false, false, false},
		{"the shutdown came first", clientResult{local: "peer"}, false, true, false},
		{"the loop failed", clientResult{local: "peer"}, true, false, false},
	} {
		c.early = tc.early
		if text := c.wrongClient(tc.r, tc.failed); (text != "") != tc.found {
			t.Errorf("%s: got %q", tc.name, text)
		}
	}
}

// TestConnectionsWithoutFaults runs connections on the kernel as it is.
func TestConnectionsWithoutFaults(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		if text := runConnections(rng, features{}); text != "" {
			t.Errorf("seed %d: %s", seed, text)
		}
	}
}
