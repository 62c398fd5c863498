package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// field is one column of an action's text form.
type field struct {
	write func(Action) string // "" when the column is absent
	read  func(*reader, *Action) error
}

// bodyNames are the words for the kinds of submitted bodies.
var bodyNames = map[Op]string{
	TaskBody: "task", TailBody: "tail", TimerBody: "timer", HookBody: "hook", FDBody: "fd", ChannelBody: "channel",
}

var (
	submitted  = []Op{TaskBody, TailBody, TimerBody, HookBody, FDBody, ChannelBody}
	registered = []Op{FDBody, ChannelBody}
)

var (
	bodyField = bodyFieldOf(submitted)
	regField  = bodyFieldOf(registered)
	idField   = field{
		func(a Action) string { return strconv.Itoa(a.Body.ID) },
		readID,
	}
	partField = field{
		func(a Action) string {
			if a.Part == Ready {
				return ""
			}
			return a.Part.String()
		},
		func(r *reader, a *Action) error {
			if r.peek() == "" || a.Body.Kind != ChannelBody {
				return nil
			}
			return readWord(r, &a.Part, Drain, Abort)
		},
	}
	boolField  = outcomeField(True, False)
	howField   = outcomeField(Normal, Panicked, Exited)
	phaseField = field{
		func(a Action) string { return a.Phase.String() },
		func(r *reader, a *Action) error {
			return readWord(r, &a.Phase, NotStarted, Started, ShuttingDown, Shutdown, Terminated)
		},
	}
	quietField     = flagField("quiet", func(a *Action) *bool { return &a.Quiet })
	timeoutField   = flagField("timeout", func(a *Action) *bool { return &a.Timeout })
	admissionField = outcomeField(Accepted, RefusedClosed, RefusedQueueFull, RefusedStartFailed, RefusedStarting)
	ownStartField  = field{writeOwnStart, readOwnStart}
)

// bodyFieldOf is a column that contains the kind of a body, one of kinds.
func bodyFieldOf(kinds []Op) field {
	return field{
		func(a Action) string { return bodyNames[a.Body.Kind] },
		func(r *reader, a *Action) error {
			w := r.next()
			i := slices.IndexFunc(kinds, func(k Op) bool { return bodyNames[k] == w })
			if i < 0 {
				return expected(texts(kinds, func(k Op) string { return bodyNames[k] }), w)
			}
			a.Body.Kind = kinds[i]
			return nil
		},
	}
}

// outcomeField is a column that contains one of outcomes.
func outcomeField(outcomes ...Outcome) field {
	return field{
		func(a Action) string { return a.Outcome.String() },
		func(r *reader, a *Action) error { return readWord(r, &a.Outcome, outcomes...) },
	}
}

// readWord reads one word and sets dst to the element of values that has this word.
func readWord[T fmt.Stringer](r *reader, dst *T, values ...T) error {
	w := r.next()
	for _, v := range values {
		if v.String() == w {
			*dst = v
			return nil
		}
	}
	return expected(texts(values, T.String), w)
}

func expected(words []string, got string) error {
	return fmt.Errorf("expected one of %s, got %q", strings.Join(words, "|"), got)
}

func readID(r *reader, a *Action) error {
	w := r.next()
	id, err := strconv.Atoi(w)
	if err != nil || id < 1 {
		return fmt.Errorf("expected a number from 1, got %q", w)
	}
	a.Body.ID = id
	return nil
}

// flagField is a column "name=0" or "name=1".
func flagField(name string, flag func(*Action) *bool) field {
	return field{
		write: func(a Action) string {
			if *flag(&a) {
				return name + "=1"
			}
			return name + "=0"
		},
		read: func(r *reader, a *Action) error {
			switch w := r.next(); w {
			case name + "=0":
			case name + "=1":
				*flag(a) = true
			default:
				return fmt.Errorf("expected %s=0|%s=1, got %q", name, name, w)
			}
			return nil
		},
	}
}

// A shutdown call has no answer unless its own start failed.

func writeOwnStart(a Action) string {
	if a.Outcome == 0 {
		return ""
	}
	return a.Outcome.String()
}

func readOwnStart(r *reader, a *Action) error {
	if r.peek() == "" {
		return nil
	}
	return readWord(r, &a.Outcome, RefusedStartFailed)
}
