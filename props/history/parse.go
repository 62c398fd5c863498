package history

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Parse reads a trace file in the format of testdata/traces/history/README.md. An error
// names the line and what was expected there.
func Parse(r io.Reader) (Trace, error) {
	p := parser{calls: openCalls{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if err := p.line(strings.TrimSpace(lines.Text())); err != nil {
			return Trace{}, fmt.Errorf("history: line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return Trace{}, fmt.Errorf("history: %w", err)
	}
	if !p.judged {
		return Trace{}, fmt.Errorf("history: expected a line such as \"verdict: good\" or \"verdict: bad G3 S2\"")
	}
	return p.trace, nil
}

type parser struct {
	trace  Trace
	judged bool // the verdict was read
	now    time.Duration
	calls  openCalls
}

func (p *parser) line(text string) error {
	if comment, ok := strings.CutPrefix(text, "#"); ok {
		if len(p.trace.Events) == 0 {
			p.trace.Comments = append(p.trace.Comments, strings.TrimSpace(comment))
		}
		return nil
	}
	if text == "" {
		return nil
	}
	first, value, _ := strings.Cut(text, " ")
	if name, ok := strings.CutSuffix(first, ":"); ok {
		return p.header(name, strings.TrimSpace(value))
	}
	return p.event(text)
}

func (p *parser) header(name, value string) error {
	if len(p.trace.Events) > 0 {
		return fmt.Errorf("expected an event, got the header %q after the first one", name)
	}
	switch name {
	case "verdict":
		return p.verdict(value)
	case "because":
		p.trace.Because = value
		return nil
	case "rules":
		return p.rules(value)
	default:
		return fmt.Errorf("expected verdict, because or rules, got %q", name)
	}
}

func (p *parser) verdict(value string) error {
	p.judged = true
	if value == "good" {
		return nil
	}
	list, ok := strings.CutPrefix(value, "bad ")
	if !ok {
		return fmt.Errorf("expected \"good\" or \"bad\" with guarantees and predicates, got %q", value)
	}
	for pair := range strings.SplitSeq(list, ",") {
		words := strings.Fields(pair)
		if len(words) != 2 || words[0][0] != 'G' {
			return fmt.Errorf("expected a guarantee and a predicate such as \"G3 S2\", got %q", pair)
		}
		p.trace.Verdict = append(p.trace.Verdict, Blame{words[0], words[1]})
	}
	return nil
}

func (p *parser) rules(value string) error {
	r := &p.trace.Rules
	for w := range strings.FieldsSeq(value) {
		name, v, _ := strings.Cut(w, "=")
		var err error
		switch name {
		case "virtual":
			r.Virtual = true
		case "rest":
			r.AtRest = true
		case "spawner":
			r.Spawner = true
		case "overlap":
			r.Overlap = true
		case "breaks":
			r.Breaks = true
		case "drain":
			err = r.Drain.UnmarshalText([]byte(v))
		case "bound":
			r.QueueBound, err = strconv.Atoi(v)
		case "batch":
			r.Batch, err = strconv.Atoi(v)
		case "slack":
			r.Slack, err = time.ParseDuration(v)
		case "late":
			r.Late, err = time.ParseDuration(v)
		case "idle":
			r.IdleTurns, err = strconv.Atoi(v)
		case "timers":
			err = r.Timers.UnmarshalText([]byte(v))
		default:
			err = p.part(w)
		}
		if err != nil {
			return fmt.Errorf("rule %q: %w", w, err)
		}
	}
	return nil
}

func (p *parser) part(w string) error {
	i, ok := find(partWords[:], w)
	if !ok {
		return fmt.Errorf("expected virtual, rest, spawner, breaks, bound=, batch=, slack=, timers=, drain= or one of %s", listed(partWords[:]))
	}
	p.trace.Rules.Parts |= 1 << i
	return nil
}

// event reads "[@time] goroutine verb words... name=value...".
func (p *parser) event(text string) error {
	text, note, hasNote := strings.Cut(text, " note=")
	words := strings.Fields(text)
	if at, ok := strings.CutPrefix(words[0], "@"); ok {
		t, err := time.ParseDuration(at)
		if err != nil {
			return fmt.Errorf("expected a time such as @5ms, got %q", words[0])
		}
		p.now, words = t, words[1:]
	}
	if len(words) < 2 {
		return fmt.Errorf("expected a goroutine (loop, g1, ...) and what it did")
	}
	g, ok := parseGoroutine(words[0])
	if !ok {
		return fmt.Errorf("expected a goroutine (loop, loop2, ..., g1, g2, ...), got %q", words[0])
	}
	kind, ok := find(kindWords[:], words[1])
	if !ok {
		return fmt.Errorf("expected one of %s, got %q", listed(kindWords[:]), words[1])
	}
	e := Event{N: len(p.trace.Events) + 1, At: p.now, G: g, Kind: LogKind(kind)}
	e.usual()
	if hasNote {
		if err := noteAttr.read(&e, note); err != nil {
			return fmt.Errorf("expected a quoted note, got %s", note)
		}
	}
	if err := p.rest(&e, words[2:]); err != nil {
		return err
	}
	p.calls.step(e)
	p.trace.Events = append(p.trace.Events, e)
	return nil
}

// usual sets the values that a line need not state.
func (e *Event) usual() {
	switch e.Kind {
	case Begin:
		e.InLoop = true
	case End:
		e.InLoop, e.Outcome = true, Normal
	case Park:
		e.Deadline, e.Next = Never, Never
	case Sample, Sealed:
		e.Stats = &Stats{}
	}
}

// rest reads the words and attributes of the kind's shape.
func (p *parser) rest(e *Event, words []string) error {
	s := shapes[e.Kind]
	for _, slot := range s.words {
		if len(words) > 0 && !strings.Contains(words[0], "=") && slot.read(e, words[0]) {
			words = words[1:]
			continue
		}
		if !slot.optional {
			return fmt.Errorf("expected %s after %q, got %q", slot.expected, e.Kind, strings.Join(words, " "))
		}
	}
	answers := e.Kind == Return || e.Kind == Admit
	for _, w := range words {
		if err := readAttr(e, s.attrs, answers, w); err != nil {
			return err
		}
	}
	if e.Kind == Return && e.Op == OpStats && e.Stats == nil {
		e.Stats = &Stats{}
	}
	if answers && e.Call == 0 {
		e.Call = p.calls.find(*e)
	}
	return nil
}

func readAttr(e *Event, attrs []attr, answers bool, w string) error {
	if answers {
		attrs = append(attrs[:len(attrs):len(attrs)], callAttr)
	}
	name, value, ok := strings.Cut(w, "=")
	var names []string
	for _, a := range attrs {
		names = append(names, a.name+"=")
		if ok && a.name == name {
			if err := a.read(e, value); err != nil {
				return fmt.Errorf("expected a value for %s, got %q", name, value)
			}
			return nil
		}
	}
	return fmt.Errorf("expected nothing more or one of [%s] after %q, got %q", strings.Join(names, " "), e.Kind, w)
}
