package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// verb is one line of the text form: a word, the action that the word stands for, and
// the fields after the word. [Action.String] and [ParseAction] both use this table.
type verb struct {
	word   string
	means  Action
	fields []field
}

var verbs = []verb{
	{"submit", Action{Kind: OpExecute, Body: Body{Kind: TaskBody}}, []field{idField, admissionField}},
	{"submitLazy", Action{Kind: OpExecuteLazy, Body: Body{Kind: TaskBody}}, []field{idField, admissionField}},
	{"submitTail", Action{Kind: OpAfterIteration, Body: Body{Kind: TailBody}}, []field{idField, admissionField}},
	{"schedule", Action{Kind: OpSchedule, Body: Body{Kind: TimerBody}}, []field{idField, admissionField}},
	{"schedulePeriodic", Action{Kind: OpSchedule, Periodic: true, Body: Body{Kind: TimerBody}}, []field{idField, admissionField}},
	{"cancel", Action{Kind: OpCancel}, []field{bodyField, idField, boolField}},
	{"reset", Action{Kind: OpReset, Body: Body{Kind: TimerBody}}, []field{idField, boolField}},
	{"addHook", Action{Kind: OpAddHook, Body: Body{Kind: HookBody}}, []field{idField, admissionField}},
	{"removeHook", Action{Kind: OpRemoveHook, Body: Body{Kind: HookBody}}, []field{idField, boolField}},
	{"shutdownGracefully", Action{Kind: OpShutdownGracefully}, []field{quietField, timeoutField, ownStartField}},
	{"shutdown", Action{Kind: OpShutdown}, []field{ownStartField}},
	{"register", Action{Kind: OpRegister}, []field{regField, idField, admissionField}},
	{"unregister", Action{Kind: OpEnd}, []field{regField, idField}},
	{"state", Action{Kind: OpState}, []field{phaseField}},
	{"startOK", Action{Kind: StepStartOK}, nil},
	{"startFail", Action{Kind: StepStartFail}, nil},
	{"loopFails", Action{Kind: StepLoopFails}, nil},
	{"quietElapses", Action{Kind: StepQuietElapses}, nil},
	{"timeoutFires", Action{Kind: StepTimeoutFires}, nil},
	{"lost", Action{Kind: StepLost}, []field{regField, idField}},
	{"begin", Action{Kind: StepBegin}, []field{bodyField, idField, partField}},
	{"end", Action{Kind: StepEnd}, []field{bodyField, idField, howField}},
	{"discard", Action{Kind: StepDiscard, Body: Body{Kind: TaskBody}}, []field{idField}},
	{"timerDies", Action{Kind: StepTimerDies, Body: Body{Kind: TimerBody}}, []field{idField}},
	{"closeFD", Action{Kind: StepCloseFD, Body: Body{Kind: FDBody}}, []field{idField}},
	{"notified", Action{Kind: StepNotified}, []field{regField, idField}},
	{"loopCloses", Action{Kind: StepLoopCloses}, nil},
	{"done", Action{Kind: StepDone}, nil},
}

// loopWord precedes a call that was made inside the running body.
const loopWord = "loop"

// String returns the text form, as in "submit 3 refused:closed". A call from
// inside a body reads "loop submit 3 accepted".
func (a Action) String() string {
	v := verbOf(a)
	if v == nil {
		return fmt.Sprintf("Action(kind %d)", a.Kind)
	}
	words := make([]string, 0, 6)
	if a.From == Loop {
		words = append(words, loopWord)
	}
	words = append(words, v.word)
	for _, f := range v.fields {
		if w := f.write(a); w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// kindWord returns the word for the kind in a trace.
func kindWord(k Op) string {
	if v := verbOf(Action{Kind: k}); v != nil {
		return v.word
	}
	return k.String()
}

// String returns the body as in "task 3".
func (b Body) String() string {
	return bodyNames[b.Kind] + " " + strconv.Itoa(b.ID)
}

func verbOf(a Action) *verb {
	for i := range verbs {
		if m := verbs[i].means; m.Kind == a.Kind && m.Periodic == a.Periodic {
			return &verbs[i]
		}
	}
	return nil
}

// ParseAction reads the text form. An error says what was expected and what was found.
func ParseAction(text string) (Action, error) {
	rest := reader{words: strings.Fields(text)}
	word, fromLoop := rest.next(), false
	if word == loopWord {
		word, fromLoop = rest.next(), true
	}
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.word == word })
	if i < 0 {
		return Action{}, fmt.Errorf("expected an action such as %q, got %q", "submit 1 accepted", word)
	}
	a := verbs[i].means
	if fromLoop {
		if !a.IsCall() {
			return Action{}, fmt.Errorf("expected a call after %q, got %q", loopWord, word)
		}
		a.From = Loop
	}
	for _, f := range verbs[i].fields {
		if err := f.read(&rest, &a); err != nil {
			return Action{}, fmt.Errorf("%s: %w", word, err)
		}
	}
	if len(rest.words) > 0 {
		return Action{}, fmt.Errorf("%s: expected the end of the line, got %q", word, rest.next())
	}
	return a, nil
}

// reader hands out the words of one line.
type reader struct{ words []string }

func (r *reader) peek() string {
	if len(r.words) == 0 {
		return ""
	}
	return r.words[0]
}

func (r *reader) next() string {
	w := r.peek()
	if len(r.words) > 0 {
		r.words = r.words[1:]
	}
	return w
}
