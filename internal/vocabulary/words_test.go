package vocabulary

import (
	"encoding"
	"slices"
	"testing"
)

// TestEveryConstantHasAWord: each value below the first unnamed one survives the text
// form, no two values of a type share a word, and values beyond have none.
func TestEveryConstantHasAWord(t *testing.T) {
	everyWord[State](t, NotStarted, Terminated)
	everyWord[Op](t, OpExecute, OpListen)
	everyWord[Body](t, BodyTask, BodyAbort)
	everyWord[Outcome](t, Accepted, Skipped)
	everyWord[Cause](t, CauseShutdown, CauseOtherError)
	everyWord[TimerPolicy](t, CancelTimers, AnyTimers)
	everyWord[DrainPolicy](t, DrainChannels, CloseChannels)
}

func everyWord[T Term](t *testing.T, first, last T) {
	t.Helper()
	var words []string
	for v := first; v <= last; v++ {
		text, err := any(v).(encoding.TextMarshaler).MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back T
		if err := any(&back).(encoding.TextUnmarshaler).UnmarshalText(text); err != nil || back != v {
			t.Errorf("%q is read as %v (%v), want %v", text, back, err, v)
		}
		words = append(words, string(text))
	}
	if got := Words[T](); !slices.Equal(got, words) {
		t.Errorf("Words are %q, want %q", got, words)
	}
	slices.Sort(words)
	if len(slices.Compact(words)) != int(last-first)+1 {
		t.Errorf("two values of a type share a word: %q", words)
	}
	if text, err := any(last + 1).(encoding.TextMarshaler).MarshalText(); err == nil {
		t.Errorf("a value beyond the last has the word %q", text)
	}
}

func TestValuesWithoutAWord(t *testing.T) {
	for got, want := range map[string]string{
		State(-1).String():   "State(-1)",
		State(9).String():    "State(9)",
		Op(0).String():       "Op(0)",
		Op(200).String():     "Op(200)",
		NoBody.String():      "Body(0)",
		Outcome(99).String(): "Outcome(99)",
	} {
		if got != want {
			t.Errorf("String: got %q, want %q", got, want)
		}
	}
}

func TestUnknownWord(t *testing.T) {
	p := RunDueTimers
	err := p.UnmarshalText([]byte("rundue"))
	want := `vocabulary: expected one of CancelTimers|RunDueTimers|RunTimersUntilTimeout|AnyTimers, got "rundue"`
	if err == nil || err.Error() != want || p != RunDueTimers {
		t.Errorf("got %v and %v, want %s and no change", err, p, want)
	}
	var o Op
	if err := o.UnmarshalText(nil); err != nil || o != 0 {
		t.Errorf("the empty word is read as %v (%v), want no call", o, err)
	}
}
