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

var (
	bodyNames   = []string{"", "task", "tail", "timer", "hook", "fd", "channel"}
	answerNames = []string{"", "accepted", "refused", "true", "false"}
	reasonNames = []string{"", "closed", "full", "startFailed", "starting"}
	howNames    = []string{"normal", "panic", "goexit"}
	partNames   = []string{"ready", "drain", "abort"}
)

var (
	bodyField = field{
		func(a Action) string { return name(bodyNames, a.Body.Kind) },
		func(r *reader, a *Action) error { return readName(r, bodyNames, 1, &a.Body.Kind) },
	}
	idField = field{
		func(a Action) string { return strconv.Itoa(a.Body.ID) },
		readID,
	}
	regField = field{
		bodyField.write,
		func(r *reader, a *Action) error { return readName(r, bodyNames, int(FDBody), &a.Body.Kind) },
	}
	partField = field{
		func(a Action) string {
			if a.Part == Ready {
				return ""
			}
			return name(partNames, a.Part)
		},
		func(r *reader, a *Action) error {
			if r.peek() == "" || a.Body.Kind != ChannelBody {
				return nil
			}
			return readName(r, partNames, 0, &a.Part)
		},
	}
	boolField = field{
		func(a Action) string { return name(answerNames, a.Answer) },
		func(r *reader, a *Action) error { return readName(r, answerNames, int(True), &a.Answer) },
	}
	howField = field{
		func(a Action) string { return name(howNames, a.How) },
		func(r *reader, a *Action) error { return readName(r, howNames, 0, &a.How) },
	}
	phaseField = field{
		func(a Action) string { return a.Phase.String() },
		func(r *reader, a *Action) error { return readName(r, phaseNames[:], 0, &a.Phase) },
	}
	quietField     = flagField("quiet", func(a *Action) *bool { return &a.Quiet })
	timeoutField   = flagField("timeout", func(a *Action) *bool { return &a.Timeout })
	admissionField = field{writeAdmission, readAdmission}
	ownStartField  = field{writeOwnStart, readOwnStart}
)

// name returns the word for v, or the number if there is none.
func name[T ~uint8](names []string, v T) string {
	if int(v) < len(names) {
		return names[v]
	}
	return strconv.Itoa(int(v))
}

// readName reads one of names[from:] into dst.
func readName[T ~uint8](r *reader, names []string, from int, dst *T) error {
	w := r.next()
	i := slices.Index(names[from:], w)
	if i < 0 || w == "" {
		return fmt.Errorf("expected one of %s, got %q", strings.Join(names[from:], "|"), w)
	}
	*dst = T(from + i)
	return nil
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

func writeAdmission(a Action) string {
	if a.Answer != Refused {
		return name(answerNames, a.Answer)
	}
	return "refused " + name(reasonNames, a.Reason)
}

func readAdmission(r *reader, a *Action) error {
	if err := readName(r, answerNames[:Refused+1], int(Accepted), &a.Answer); err != nil {
		return err
	}
	if a.Answer == Refused {
		return readName(r, reasonNames, int(ReasonClosed), &a.Reason)
	}
	return nil
}

// A shutdown call has no answer unless its own start failed.

func writeOwnStart(a Action) string {
	if a.Answer == Refused {
		return name(reasonNames, a.Reason)
	}
	return ""
}

func readOwnStart(r *reader, a *Action) error {
	if r.peek() == "" {
		return nil
	}
	a.Answer = Refused
	return readName(r, reasonNames[:ReasonStartFailed+1], int(ReasonStartFailed), &a.Reason)
}
