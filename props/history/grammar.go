package history

import (
	"encoding"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"eventide/internal/vocabulary"
)

// shape is the text form of the events of one kind. After the word of the kind follow
// other words in a fixed order, then name=value pairs in any order. Format and Parse use
// the same table, so Parse reads whatever Format writes.
type shape struct {
	words []slot
	attrs []attr
}

// slot is one word.
type slot struct {
	expected string // for the error message
	optional bool
	read     func(*Event, string) bool
	write    func(Event) string // "" leaves the word out
}

// attr is one name=value. It is omitted if the value is the usual one.
type attr struct {
	name  string
	read  func(*Event, string) error
	write func(Event) string
}

var shapes = [...]shape{
	Invoke:   {words: []slot{opSlot, optional(idSlot), optional(outcomeSlot)}, attrs: []attr{delayAttr, periodAttr, quietAttr, timeoutAttr, bytesAttr}},
	Admit:    {words: []slot{opSlot, optional(idSlot), optional(outcomeSlot), optional(stateSlot)}},
	Return:   {words: []slot{opSlot, optional(idSlot), optional(outcomeSlot), optional(stateSlot)}, attrs: statsAttrs()},
	Begin:    {words: []slot{bodySlot, idSlot}, attrs: []attr{runAttr, deadlineAttr, inLoopAttr}},
	End:      {words: []slot{bodySlot, idSlot, optional(endSlot)}, attrs: []attr{runAttr, inLoopAttr}},
	Complete: {words: []slot{idSlot, outcomeSlot}},
	Transit:  {words: []slot{moveSlot}, attrs: []attr{causeAttr}},
	Park:     {words: []slot{optional(tokenSlot), optional(stateSlot)}, attrs: []attr{untilAttr, nextAttr, queuedAttr, lazyAttr}},
	Unpark:   {},
	Wake:     {},
	Closed:   {},
	Done:     {},
	Sample:   {attrs: statsAttrs()},
	Observe:  {words: []slot{opSlot, optional(idSlot), optional(outcomeSlot), optional(stateSlot)}},
	Ended:    {words: []slot{idSlot, outcomeSlot}, attrs: []attr{causeAttr}},
	Readied:  {words: []slot{idSlot}},
	Fault:    {words: []slot{optional(idSlot), optional(outcomeSlot)}},
	Sealed:   {attrs: statsAttrs()},
}

func optional(s slot) slot { s.optional = true; return s }

// find returns the index of a word in its table, the index being the constant.
func find(words []string, w string) (int, bool) {
	i := slices.Index(words, w)
	return i, i >= 0 && w != ""
}

// unless returns the text, or "", which is left out, for a usual value.
func unless(usual bool, text string) string {
	if usual {
		return ""
	}
	return text
}

// reads sets v to the value of a word, and reports whether it has one.
func reads(v encoding.TextUnmarshaler, w string) bool {
	return w != "" && v.UnmarshalText([]byte(w)) == nil
}

var (
	opSlot = slot{
		expected: "an operation (" + listed(vocabulary.Words[Op]()) + ")",
		read:     func(e *Event, w string) bool { return reads(&e.Op, w) },
		write:    func(e Event) string { return e.Op.String() },
	}
	bodySlot = slot{
		expected: "a body (" + listed(vocabulary.Words[Body]()) + ")",
		read:     func(e *Event, w string) bool { return reads(&e.Body, w) },
		write:    func(e Event) string { return e.Body.String() },
	}
	idSlot = slot{
		expected: "a label, 1 or more",
		read: func(e *Event, w string) bool {
			id, err := strconv.Atoi(w)
			e.ID = id
			return err == nil && id > 0
		},
		write: func(e Event) string { return number(e.ID) },
	}
	outcomeSlot = slot{
		expected: "an outcome (" + listed(vocabulary.Words[Outcome]()) + ")",
		read:     func(e *Event, w string) bool { return reads(&e.Outcome, w) },
		write:    func(e Event) string { return unless(e.Outcome == 0, e.Outcome.String()) },
	}
	endSlot = slot{
		expected: "an outcome other than normal, which is omitted",
		read:     outcomeSlot.read,
		write:    func(e Event) string { return unless(e.Outcome == Normal, e.Outcome.String()) },
	}
	stateSlot = slot{
		expected: "a state (" + listed(vocabulary.Words[State]()) + ")",
		read:     func(e *Event, w string) bool { return reads(&e.To, w) },
		write: func(e Event) string {
			return unless(e.To == NotStarted && e.Op != OpState || e.Outcome != 0 || e.Op == OpStats, e.To.String())
		},
	}
	moveSlot = slot{
		expected: "a move such as Started->ShuttingDown",
		read: func(e *Event, w string) bool {
			from, to, _ := strings.Cut(w, "->")
			return reads(&e.From, from) && reads(&e.To, to)
		},
		write: func(e Event) string { return e.From.String() + "->" + e.To.String() },
	}
	tokenSlot = slot{
		expected: "token",
		read: func(e *Event, w string) bool {
			e.Token = e.Token || w == "token"
			return w == "token"
		},
		write: func(e Event) string { return unless(!e.Token, "token") },
	}
)

var (
	delayAttr    = durationAttr("delay", 0, func(e *Event) *time.Duration { return &e.Delay })
	periodAttr   = durationAttr("period", 0, func(e *Event) *time.Duration { return &e.Period })
	quietAttr    = durationAttr("quiet", 0, func(e *Event) *time.Duration { return &e.Quiet })
	timeoutAttr  = durationAttr("timeout", 0, func(e *Event) *time.Duration { return &e.Timeout })
	deadlineAttr = durationAttr("deadline", 0, func(e *Event) *time.Duration { return &e.Until })
	untilAttr    = durationAttr("until", Never, func(e *Event) *time.Duration { return &e.Deadline })
	nextAttr     = durationAttr("next", Never, func(e *Event) *time.Duration { return &e.Next })
	runAttr      = intAttr("run", func(e *Event) *int { return &e.Run })
	queuedAttr   = intAttr("queued", func(e *Event) *int { return &e.Queued })
	lazyAttr     = intAttr("lazy", func(e *Event) *int { return &e.Lazy })
	bytesAttr    = intAttr("bytes", func(e *Event) *int { return &e.Bytes })
	callAttr     = intAttr("call", func(e *Event) *int { return &e.Call })
	inLoopAttr   = attr{
		name:  "inloop",
		read:  func(e *Event, v string) (err error) { e.InLoop, err = strconv.ParseBool(v); return err },
		write: func(e Event) string { return unless(e.InLoop, "false") },
	}
	causeAttr = attr{
		name:  "cause",
		read:  func(e *Event, v string) error { return e.Cause.UnmarshalText([]byte(v)) },
		write: func(e Event) string { return unless(e.Cause == 0, e.Cause.String()) },
	}
	noteAttr = attr{
		name:  "note",
		read:  func(e *Event, v string) (err error) { e.Note, err = strconv.Unquote(v); return err },
		write: func(e Event) string { return unless(e.Note == "", strconv.Quote(e.Note)) },
	}
)

func durationAttr(name string, usual time.Duration, field func(*Event) *time.Duration) attr {
	return attr{
		name:  name,
		read:  func(e *Event, v string) (err error) { *field(e), err = parseInstant(v); return err },
		write: func(e Event) string { return unless(*field(&e) == usual, until(*field(&e))) },
	}
}

func parseInstant(v string) (time.Duration, error) {
	if v == "never" {
		return Never, nil
	}
	return time.ParseDuration(v)
}

func intAttr(name string, field func(*Event) *int) attr {
	return attr{
		name:  name,
		read:  func(e *Event, v string) (err error) { *field(e), err = strconv.Atoi(v); return err },
		write: func(e Event) string { return number(*field(&e)) },
	}
}

// statsAttrs are the counters of a sample, and of the answer of OpStats.
func statsAttrs() []attr {
	counters := []struct {
		name  string
		field func(*Stats) *int
	}{
		{"accepted", func(s *Stats) *int { return &s.Accepted }},
		{"ran", func(s *Stats) *int { return &s.Ran }},
		{"cancelled", func(s *Stats) *int { return &s.Cancelled }},
		{"pending", func(s *Stats) *int { return &s.Pending }},
		{"rejected", func(s *Stats) *int { return &s.Rejected }},
		{"panicked", func(s *Stats) *int { return &s.Panicked }},
		{"timers", func(s *Stats) *int { return &s.Timers }},
		{"parks", func(s *Stats) *int { return &s.Parks }},
		{"wakes", func(s *Stats) *int { return &s.Wakes }},
		{"registrations", func(s *Stats) *int { return &s.Registrations }},
		{"drained", func(s *Stats) *int { return &s.Drained }},
		{"aborted", func(s *Stats) *int { return &s.Aborted }},
		{"discarded", func(s *Stats) *int { return &s.Discarded }},
	}
	var attrs []attr
	for _, c := range counters {
		attrs = append(attrs, intAttr(c.name, func(e *Event) *int {
			if e.Stats == nil {
				e.Stats = &Stats{}
			}
			return c.field(e.Stats)
		}))
	}
	return attrs
}

func number(n int) string { return unless(n == 0, strconv.Itoa(n)) }

func listed(words []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" }), ", ")
}

// goroutine names a goroutine in the text form: below zero the loops, loop,
// loop2, ...; above zero the others, g1, g2, ...
func goroutine(g int64) string {
	switch {
	case g == -1:
		return "loop"
	case g < 0:
		return fmt.Sprintf("loop%d", -g)
	default:
		return fmt.Sprintf("g%d", g)
	}
}

func parseGoroutine(w string) (int64, bool) {
	if w == "loop" {
		return -1, true
	}
	if n, ok := strings.CutPrefix(w, "loop"); ok {
		g, err := strconv.ParseInt(n, 10, 64)
		return -g, err == nil && g > 1
	}
	n, ok := strings.CutPrefix(w, "g")
	g, err := strconv.ParseInt(n, 10, 64)
	return g, ok && err == nil && g > 0
}
