package model

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Trace is a trace file: the verdict that the model must give, and the actions.
//
//	# remembers: netty #9603, task accepted late is dropped at termination
//	verdict: bad G3
//	policy: RunDueTimers
//	limit: 2
//	hidden: quietElapses discard timerDies
//
//	startOK
//	submit 1 accepted
//
// Only the verdict is required. Lines that begin with # are comments. The first one that
// begins with "# remembers:" names the bug that the trace shows.
type Trace struct {
	Remembers string
	Broken    string // the guarantee that the trace breaks; "" if it is good
	Config    Config
	Hidden    []Op // steps that the trace need not show; see [DefaultHidden]
	Actions   []Action
	Lines     []int // the line of each action, from 1
}

const remembers = "# remembers:"

// ParseTrace reads a trace file. An error names the line, what was expected there and
// what was found.
func ParseTrace(r io.Reader) (Trace, error) {
	t := Trace{Hidden: DefaultHidden()}
	verdict := false
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		key, value, isHeader := strings.Cut(line, ":")
		isHeader = isHeader && !strings.Contains(key, " ") // in "submit 1 refused:closed" a space precedes the colon
		var err error
		switch {
		case t.Remembers == "" && strings.HasPrefix(line, remembers):
			t.Remembers = strings.TrimSpace(line[len(remembers):])
		case line == "" || line[0] == '#':
		case isHeader && len(t.Actions) > 0:
			err = fmt.Errorf("expected an action, got the header %q after the first action", key)
		case isHeader:
			verdict = verdict || key == "verdict"
			err = t.header(key, strings.TrimSpace(value))
		default:
			err = t.action(line, n)
		}
		if err != nil {
			return Trace{}, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return Trace{}, err
	}
	if !verdict {
		return Trace{}, errors.New(`expected a line "verdict: good" or "verdict: bad G3", got none`)
	}
	return t, nil
}

func (t *Trace) action(line string, n int) error {
	a, err := ParseAction(line)
	if err != nil {
		return err
	}
	t.Actions = append(t.Actions, a)
	t.Lines = append(t.Lines, n)
	return nil
}

func (t *Trace) header(key, value string) error {
	switch key {
	case "verdict":
		g, bad := strings.CutPrefix(value, "bad ")
		if !bad && value != "good" || bad && !knownGuarantee(g) {
			return fmt.Errorf(`verdict: expected "good" or "bad G3", got %q`, value)
		}
		if bad {
			t.Broken = g
		}
	case "policy":
		p, err := ParsePolicy(value)
		if err != nil {
			return fmt.Errorf("policy: %w", err)
		}
		t.Config.Policy = p
	case "drain":
		p, err := ParseDrainPolicy(value)
		if err != nil {
			return fmt.Errorf("drain: %w", err)
		}
		t.Config.Drain = p
	case "limit":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return fmt.Errorf("limit: expected a number from 0, got %q", value)
		}
		t.Config.Limit = n
	case "hidden":
		t.Hidden = nil
		for _, word := range strings.Fields(value) {
			i := slices.IndexFunc(verbs, func(v verb) bool { return v.word == word && canHide.has(v.means.Kind) })
			if i < 0 {
				return fmt.Errorf("hidden: expected one of %s, got %q", canHide, word)
			}
			t.Hidden = append(t.Hidden, verbs[i].means.Kind)
		}
	default:
		return fmt.Errorf("expected verdict:, policy:, drain:, limit: or hidden:, got %q", key+":")
	}
	return nil
}

// knownGuarantee reports whether a rule expresses g.
func knownGuarantee(g string) bool {
	return slices.ContainsFunc(rules[:], func(r rule) bool { return r.g == g })
}

// Check follows the trace. It returns nil if the model's verdict is the verdict in the
// file, and otherwise an error with both.
func (t Trace) Check() error {
	sim := NewSimulation(t.Config, t.Hidden)
	for i, a := range t.Actions {
		err := sim.Step(a)
		if err == nil {
			continue
		}
		refusal := new(NotAllowed)
		if errors.As(err, &refusal) && refusal.Guarantee == t.Broken && i == len(t.Actions)-1 {
			return nil
		}
		return fmt.Errorf("line %d: want %s, got: %w", t.Lines[i], t.verdict(), err)
	}
	if t.Broken != "" {
		return fmt.Errorf("want %s, got: good", t.verdict())
	}
	return nil
}

func (t Trace) verdict() string {
	if t.Broken == "" {
		return "good"
	}
	return "bad " + t.Broken + " at the last action"
}
