package history_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"eventide/props/history"

	"pgregory.net/rapid"
)

func format(t interface{ Fatal(...any) }, tr history.Trace) string {
	var b strings.Builder
	if err := history.Format(&b, tr); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestKeptTracesRoundTrip reads what Format writes of each kept trace.
func TestKeptTracesRoundTrip(t *testing.T) {
	for name, tr := range traces(t) {
		text := format(t, tr)
		again, err := history.Parse(strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		if !reflect.DeepEqual(tr, again) {
			t.Errorf("%s: got\n%+v\nwant\n%+v\ntext\n%s", name, again, tr, text)
		}
	}
}

// TestTextRoundTrips generates events of every kind and field, and wants each
// back as it was.
func TestTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := traceGen(t)
		text := format(t, tr)
		again, err := history.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !reflect.DeepEqual(tr, again) {
			t.Fatalf("got\n%+v\nwant\n%+v\ntext\n%s", again, tr, text)
		}
	})
}

var durations = rapid.OneOf(
	rapid.Just(time.Duration(0)), rapid.Just(history.Never),
	rapid.Map(rapid.Int64Range(-1e12, 1e12), func(n int64) time.Duration { return time.Duration(n) }),
)

func traceGen(t *rapid.T) history.Trace {
	tr := history.Trace{
		Comments: rapid.SliceOfN(rapid.StringMatching(`[a-z#:]([a-z #:]*[a-z#:])?`), 1, 3).Draw(t, "comments"),
		Rules: history.Rules{
			Parts:      history.Parts(rapid.Uint16Max(uint16(history.All)).Draw(t, "parts")),
			Virtual:    rapid.Bool().Draw(t, "virtual"),
			AtRest:     rapid.Bool().Draw(t, "rest"),
			Spawner:    rapid.Bool().Draw(t, "spawner"),
			Overlap:    rapid.Bool().Draw(t, "overlap"),
			QueueBound: rapid.IntRange(0, 99).Draw(t, "bound"),
			Batch:      rapid.IntRange(0, 99).Draw(t, "batch"),
			Slack:      time.Duration(rapid.IntRange(0, 1e9).Draw(t, "slack")),
			Timers:     history.TimerPolicy(rapid.IntRange(0, int(history.AnyTimers)).Draw(t, "timers")),
		},
	}
	if rapid.Bool().Draw(t, "bad") {
		tr.Verdict = []history.Blame{{Guarantee: "G3", Predicate: "S2"}, {Guarantee: "G1", Predicate: "S7"}}
		tr.Because = "both"
	}
	for n := range rapid.IntRange(1, 30).Draw(t, "events") {
		e := eventGen(t)
		e.N = n + 1
		tr.Events = append(tr.Events, e)
	}
	return tr
}

func eventGen(t *rapid.T) history.Event {
	e := history.Event{
		At:   time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "at")),
		G:    rapid.SampledFrom([]int64{-3, -2, -1, 1, 2, 3}).Draw(t, "g"),
		Kind: history.LogKind(rapid.IntRange(int(history.Invoke), int(history.Observe)).Draw(t, "kind")),
		Note: rapid.StringMatching(`( [a-z:="]*)?`).Draw(t, "note"),
	}
	id := func(least int) int { return rapid.IntRange(least, 5).Draw(t, "id") }
	state := func() history.State {
		return history.State(rapid.IntRange(0, int(history.Terminated)).Draw(t, "state"))
	}
	outcome := func() history.Outcome {
		return history.Outcome(rapid.IntRange(int(history.Accepted), int(history.Cancelled)).Draw(t, "outcome"))
	}
	switch e.Kind {
	case history.Invoke, history.Admit, history.Return, history.Observe:
		e.Op = history.Op(rapid.IntRange(int(history.OpExecute), int(history.OpStats)).Draw(t, "op"))
	}
	switch e.Kind {
	case history.Invoke:
		e.ID = id(0)
		e.Delay, e.Period = durations.Draw(t, "delay"), durations.Draw(t, "period")
		e.Quiet, e.Timeout = durations.Draw(t, "quiet"), durations.Draw(t, "timeout")
	case history.Admit, history.Return:
		e.ID, e.Call = id(0), rapid.IntRange(1, 30).Draw(t, "call")
		answerGen(&e, state, outcome, t)
	case history.Observe:
		answerGen(&e, state, outcome, t)
		e.Stats = nil
	case history.Begin, history.End:
		e.ID, e.Body = id(1), history.Body(rapid.IntRange(1, int(history.BodyListener)).Draw(t, "body"))
		e.Run, e.InLoop = rapid.IntRange(0, 3).Draw(t, "run"), rapid.Bool().Draw(t, "inloop")
		if e.Kind == history.End {
			e.Outcome = outcome()
		}
	case history.Complete:
		e.ID, e.Outcome = id(1), outcome()
	case history.Transit:
		e.From, e.To = state(), state()
		e.Cause = history.Cause(rapid.IntRange(0, int(history.CauseOtherError)).Draw(t, "cause"))
	case history.Park:
		e.To, e.Token = state(), rapid.Bool().Draw(t, "token")
		e.Deadline, e.Next = durations.Draw(t, "until"), durations.Draw(t, "next")
		e.Queued, e.Lazy = id(0), id(0)
	case history.Sample:
		e.Stats = statsGen(t)
	}
	return e
}

// answerGen gives an answer of the sort that the operation has.
func answerGen(e *history.Event, state func() history.State, outcome func() history.Outcome, t *rapid.T) {
	switch e.Op {
	case history.OpState:
		e.To = state()
	case history.OpStats:
		if e.Kind == history.Return {
			e.Stats = statsGen(t)
		}
	default:
		e.Outcome = outcome()
	}
}

func statsGen(t *rapid.T) *history.Stats {
	n := func(name string) int { return rapid.IntRange(-1, 9).Draw(t, name) }
	return &history.Stats{
		Accepted: n("accepted"), Ran: n("ran"), Cancelled: n("cancelled"), Pending: n("pending"), Rejected: n("rejected"),
		Panicked: n("panicked"), Timers: n("timers"), Parks: n("parks"), Wakes: n("wakes"),
	}
}

// TestParseErrors wants the line and what was expected there.
func TestParseErrors(t *testing.T) {
	const head = "verdict: good\nrules: virtual\n"
	for _, c := range []struct{ name, text, want string }{
		{"no verdict", "rules: virtual\n", "expected a line such as \"verdict: good\""},
		{"verdict", "verdict: fine\n", "line 1: expected \"good\" or \"bad\""},
		{"blame", "verdict: bad S2\n", "line 1: expected a guarantee and a predicate"},
		{"header", "verdict: good\nexpect: x\n", "line 2: expected verdict, because or rules, got \"expect\""},
		{"header below", head + "loop done\nrules: rest\n", "line 4: expected an event, got the header \"rules\""},
		{"rule", "verdict: good\nrules: quick\n", "line 2: rule \"quick\": expected virtual, rest"},
		{"rule value", "verdict: good\nrules: bound=x\n", "line 2: rule \"bound=x\""},
		{"policy", "verdict: good\nrules: timers=all\n", "line 2: rule \"timers=all\": vocabulary: expected one of CancelTimers|RunDueTimers"},
		{"time", head + "@5 loop done\n", "line 3: expected a time such as @5ms, got \"@5\""},
		{"goroutine", head + "main done\n", "line 3: expected a goroutine (loop, loop2, ..., g1, g2, ...), got \"main\""},
		{"half a line", head + "loop\n", "line 3: expected a goroutine"},
		{"kind", head + "loop sleep\n", "line 3: expected one of invoke, admit"},
		{"op", head + "g1 invoke run 2\n", "line 3: expected an operation (execute, lazy"},
		{"body", head + "loop begin job 1\n", "line 3: expected a body (task, tail"},
		{"label", head + "loop begin task\n", "line 3: expected a label, 1 or more after \"begin\""},
		{"label zero", head + "loop begin task 0\n", "line 3: expected a label"},
		{"move", head + "loop state Started\n", "line 3: expected a move such as Started->ShuttingDown"},
		{"outcome", head + "loop complete 1 done\n", "line 3: expected an outcome (accepted"},
		{"attribute", head + "loop park until=soon\n", "line 3: expected a value for until, got \"soon\""},
		{"too much", head + "loop done now\n", "line 3: expected nothing more"},
		{"note", head + "loop done note=x\n", "line 3: expected a quoted note, got x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := history.Parse(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to contain %q", err, c.want)
			}
		})
	}
}
