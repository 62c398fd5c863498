package model

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever can be enabled survives the text form.
func TestActionTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, a := range candidates(walk(t, queueBounds()), ptr(queueBounds()), nil) {
			back, err := ParseAction(a.String())
			noError(t, err, "")
			equal(t, back, a, a.String())
		}
	})
}

func ptr[T any](v T) *T { return &v }

func TestActionText(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Action
	}{
		{"submit 3 refused:full", Action{Kind: OpExecute, Body: Task(3), Outcome: RefusedQueueFull}},
		{"loop submitLazy 300 accepted", Action{Kind: OpExecuteLazy, From: Loop, Body: Task(300), Outcome: Accepted}},
		{"schedulePeriodic 1 accepted", Action{Kind: OpSchedule, Periodic: true, Body: TimerNo(1), Outcome: Accepted}},
		{"cancel timer 2 false", Action{Kind: OpCancel, Body: TimerNo(2), Outcome: False}},
		{"shutdownGracefully quiet=0 timeout=1", Action{Kind: OpShutdownGracefully, Timeout: true}},
		{"shutdown refused:startfailed", Action{Kind: OpShutdown, Outcome: RefusedStartFailed}},
		{"end hook 1 exited", Action{Kind: StepEnd, Body: HookNo(1), Outcome: Exited}},
		{"state ShuttingDown", Action{Kind: OpState, Phase: ShuttingDown}},
		{"register channel 2 refused:closed", Action{Kind: OpRegister, Body: Channel(2), Outcome: RefusedClosed}},
		{"loop unregister fd 1", Action{Kind: OpEnd, From: Loop, Body: FD(1)}},
		{"begin channel 1 drain", Action{Kind: StepBegin, Body: Channel(1), Part: Drain}},
		{"begin fd 3", Action{Kind: StepBegin, Body: FD(3)}},
		{"notified fd 1", Action{Kind: StepNotified, Body: FD(1)}},
		{"begin tail 4", Action{Kind: StepBegin, Body: Tail(4)}},
		{"done", Action{Kind: StepDone}},
	} {
		got, err := ParseAction(tc.text)
		noError(t, err, tc.text)
		equal(t, got, tc.want, tc.text)
		equal(t, got.String(), tc.text, "text")
	}
}

func TestParseActionErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", `expected an action such as "submit 1 accepted", got ""`},
		{"jump 1", `expected an action such as "submit 1 accepted", got "jump"`},
		{"submit", `submit: expected a number from 1, got ""`},
		{"submit 0 accepted", `submit: expected a number from 1, got "0"`},
		{"submit 1 refused", `submit: expected one of accepted|refused:closed|refused:full|refused:startfailed|refused:starting, got "refused"`},
		{"submit 1 accepted twice", `submit: expected the end of the line, got "twice"`},
		{"loop done", `expected a call after "loop", got "done"`},
		{"register task 1 accepted", `register: expected one of fd|channel, got "task"`},
		{"begin channel 1 twice", `begin: expected one of drain|abort, got "twice"`},
		{"begin fd 1 drain", `begin: expected the end of the line, got "drain"`},
		{"cancel task 1 maybe", `cancel: expected one of true|false, got "maybe"`},
		{"begin nap 1", `begin: expected one of task|tail|timer|hook|fd|channel, got "nap"`},
		{"shutdownGracefully timeout=1", `shutdownGracefully: expected quiet=0|quiet=1, got "timeout=1"`},
		{"shutdown later", `shutdown: expected one of refused:startfailed, got "later"`},
		{"state Asleep", `state: expected one of NotStarted|Started|ShuttingDown|Shutdown|Terminated, got "Asleep"`},
	} {
		_, err := ParseAction(tc.text)
		equal(t, text(err), tc.want, tc.text)
	}
}

// Values without a name print as numbers, so that no message hides them.
func TestNamesOfUnknownValues(t *testing.T) {
	equal(t, Phase(9).String(), "State(9)", "phase")
	equal(t, kindWord(99), "Op(99)", "kind")
	equal(t, Action{Kind: 99}.String(), "Action(kind 99)", "action")
}
