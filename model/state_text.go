package model

import (
	"fmt"
	"strings"
)

var statusNames = []string{"waiting", "due", "doomed", "running", "last run", "unsettled", "unplaced"}

// ParsePolicy reads a policy for timers. The error lists the words that it accepts.
func ParsePolicy(text string) (p TimerPolicy, err error) {
	err = readWord(&reader{words: []string{text}}, &p, CancelTimers, RunDueTimers, RunTimersUntilTimeout)
	return p, err
}

// ParseDrainPolicy reads a policy for channels. The error lists the words that it accepts.
func ParseDrainPolicy(text string) (p DrainPolicy, err error) {
	err = readWord(&reader{words: []string{text}}, &p, DrainChannels, CloseChannels)
	return p, err
}

// String returns the registration and its progress, as in "channel 1 asked to drain".
func (r Reg) String() string {
	text := r.Body.String()
	if r.Asked != Ready {
		text += " asked to " + r.Asked.String()
	}
	if r.Lost {
		text += " lost"
	}
	if r.Closed {
		text += " closed"
	}
	return text
}

// String returns the name of the status, such as "due" or "last run".
func (t TimerStatus) String() string { return statusNames[t] }

// String returns the state on one line for people and leaves out empty parts:
//
//	{Shutdown, closed by shutdown, running task 1, queue [2 3], hooks [1], accepted 3 ran 0 cancelled 0 refused 0}
func (s State) String() string {
	parts := []string{s.Phase.String()}
	add := func(yes bool, format string, args ...any) {
		if yes {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(!s.Up && s.Phase < Terminated, "no loop")
	add(s.StartFailed, "a start failed")
	add(s.Phase == ShuttingDown && s.Quiet, "quiet period %v", map[bool]string{false: "running", true: "over"}[s.QuietElapsed])
	add(s.Phase >= Shutdown && s.ClosedBy != 0, "closed by %v", kindWord(s.ClosedBy))
	add(s.Running.Kind != NoBody, "running %v", s.Running)
	add(len(s.Queue) > 0, "queue %v", s.Queue)
	add(len(s.Tails) > 0, "tails %v", s.Tails)
	add(s.marksLeft(), "before the shutdown call %d+%d", s.Marked, s.MarkedTail)
	add(len(s.Timers) > 0, "timers [%s]", joined(s.Timers, func(t Timer) string { return fmt.Sprintf("%d %v", t.ID, t.Status) }))
	add(len(s.Hooks) > 0, "hooks [%s]", joined(s.Hooks, func(h Hook) string { return fmt.Sprint(h.ID) }))
	add(len(s.Regs) > 0, "registrations [%s]", joined(s.Regs, Reg.String))
	add(s.Accepted+s.Refused > 0, "accepted %d ran %d cancelled %d refused %d", s.Accepted, s.Ran, s.Cancelled, s.Refused)
	return "{" + strings.Join(parts, ", ") + "}"
}

func joined[T any](items []T, text func(T) string) string {
	return strings.Join(texts(items, text), ", ")
}

func texts[T any](items []T, text func(T) string) []string {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = text(item)
	}
	return words
}
