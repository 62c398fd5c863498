package history_test

import (
	"strings"
	"testing"
	"time"

	"eventide/props/history"

	"github.com/anishathalye/porcupine"
)

// parse reads events given as lines of the text form.
func parse(t *testing.T, rules, lines string) *history.History {
	t.Helper()
	tr, err := history.Parse(strings.NewReader("verdict: good\nrules: " + rules + "\n" + lines))
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Of(tr.Events, tr.Rules)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestGoodTracesAreLinearizable explains every good trace by a sequential executor.
func TestGoodTracesAreLinearizable(t *testing.T) {
	for name, tr := range traces(t) {
		if strings.HasPrefix(name, "bad-") {
			continue
		}
		h, err := history.Of(tr.Events, tr.Rules)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Linearizable(0); got != porcupine.Ok {
			t.Errorf("%s: got %v, want %v", name, got, porcupine.Ok)
		}
	}
}

// TestLinearizable has small call histories, each beside its twin with one
// answer changed.
func TestLinearizable(t *testing.T) {
	const graceful = "g1 invoke graceful quiet=0s timeout=1s\ng1 return graceful accepted\n"
	const refused = "g2 invoke execute 1\ng2 return execute 1 refused:closed\n"
	const accepted = "g2 invoke execute 2\ng2 return execute 2 accepted\n"
	for _, c := range []struct {
		name, rules, lines string
		want               porcupine.CheckResult
	}{
		{"refused after a shutdown", "", graceful + refused, porcupine.Ok},
		{"refused before any", "", refused + graceful, porcupine.Illegal},
		{"refused beside one", "", "g2 invoke execute 1\n" + graceful + "g2 return execute 1 refused:closed\n", porcupine.Ok},
		{"accepted after a graceful one", "", graceful + accepted, porcupine.Ok},
		{"accepted after a refusal", "", graceful + refused + accepted, porcupine.Illegal},
		{"accepted after Shutdown", "", "g1 invoke shutdown\ng1 return shutdown returned\n" + accepted, porcupine.Illegal},
		{"refused for no reason", "", "g1 invoke execute 1\ng1 return execute 1 refused\n", porcupine.Illegal},
		{"refused, perhaps as full", "bound=16", "g1 invoke execute 1\ng1 return execute 1 refused\n", porcupine.Ok},
		{"refused, start failed", "spawner", "g1 invoke execute 1\ng1 return execute 1 refused:startfailed\n", porcupine.Ok},
		{"started after a task", "", accepted + "g2 invoke state\ng2 return state Started\n", porcupine.Ok},
		{"not started after a task", "", accepted + "g2 invoke state\ng2 return state NotStarted\n", porcupine.Illegal},
		{"terminated without a call", "", accepted + "g2 observe state Terminated\n", porcupine.Illegal},
		{"done without a call", "", accepted + "g2 observe done true\n", porcupine.Illegal},
		{"done after a shutdown", "", graceful + "g2 observe done true\n", porcupine.Ok},
		{"open after done", "", graceful + "g2 observe done true\ng2 observe done false\n", porcupine.Illegal},
		{"bad arguments do nothing", "", "g1 invoke graceful quiet=1s timeout=0s\ng1 return graceful refused:badargument\n" + refused, porcupine.Illegal},
		{"a call that never returned", "", "g3 invoke execute 3\n" + graceful + refused, porcupine.Ok},
		{"Close ends everything", "", "g1 invoke close\ng1 return close accepted\ng1 observe done true\n" + refused, porcupine.Ok},
		{"Close in the loop begins a shutdown", "", "g1 invoke close\ng1 return close refused:inloop\n" + refused, porcupine.Ok},
		{"a late hook from a hook", "", "g1 invoke hook 1\ng1 return hook 1 accepted\ng1 invoke shutdown\ng1 return shutdown returned\n" +
			"loop begin hook 1\nloop invoke hook 2\nloop return hook 2 accepted\nloop end hook 1\n", porcupine.Ok},
		{"a late hook from outside", "", "g1 invoke shutdown\ng1 return shutdown returned\ng1 invoke hook 2\ng1 return hook 2 accepted\n", porcupine.Illegal},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(t, c.rules, c.lines).Linearizable(0); got != c.want {
				t.Errorf("got %v, want %v, for\n%s", got, c.want, c.lines)
			}
		})
	}
}

// TestUndecidedIsNotAPass gives the search no time on a history with very many
// orders, and wants Unknown.
func TestUndecidedIsNotAPass(t *testing.T) {
	var events []history.Event
	const calls = 400
	for id := 1; id <= calls; id++ {
		events = append(events, history.Event{G: int64(id), Kind: history.Invoke, Op: history.OpExecute, ID: id})
	}
	for id := 1; id <= calls; id++ {
		answer := history.Accepted
		if id%2 == 0 {
			answer = history.RefusedClosed
		}
		events = append(events, history.Event{G: int64(id), Kind: history.Return, Op: history.OpExecute, ID: id, Call: id, Outcome: answer})
	}
	if got := mustIndex(t, events, history.Rules{}).Linearizable(time.Nanosecond); got != porcupine.Unknown {
		t.Errorf("got %v, want %v", got, porcupine.Unknown)
	}
}

// TestCallModelDescribes has the words that porcupine's picture shows.
func TestCallModelDescribes(t *testing.T) {
	h := parse(t, "", "g1 invoke graceful quiet=0s timeout=1s\ng1 return graceful accepted\ng1 invoke state\ng1 return state Shutdown\n")
	model, state := h.CallModel(), h.CallModel().Init()
	var got []string
	for _, op := range h.Operations() {
		ok, next := model.Step(state, op.Input, op.Output)
		if !ok {
			t.Fatalf("%s is not possible in %s", model.DescribeOperation(op.Input, op.Output), model.DescribeState(state))
		}
		state = next
		got = append(got, model.DescribeOperation(op.Input, op.Output)+" in "+model.DescribeState(state))
	}
	want := "graceful(quiet=0s, timeout=1s) -> accepted in { ShuttingDown }; state() -> Shutdown in { Shutdown }"
	if strings.Join(got, "; ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "; "), want)
	}
}
