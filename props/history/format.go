package history

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Format writes the trace in the text form that Parse reads back.
func Format(w io.Writer, t Trace) error {
	out := bufio.NewWriter(w)
	for _, c := range t.Comments {
		fmt.Fprintln(out, strings.TrimRight("# "+c, " "))
	}
	fmt.Fprintf(out, "verdict: %s\n", verdictText(t.Verdict))
	if t.Because != "" {
		fmt.Fprintf(out, "because: %s\n", t.Because)
	}
	fmt.Fprintf(out, "rules: %s\n\n", formatRules(t.Rules))
	writer := lineWriter{calls: map[int64][]Event{}}
	for _, e := range t.Events {
		fmt.Fprintln(out, writer.line(e))
	}
	return out.Flush()
}

// words returns the words of the event's line without its time.
func (e Event) words() []string {
	words := []string{goroutine(e.G), e.Kind.String()}
	if int(e.Kind) >= len(shapes) {
		return words
	}
	s := shapes[e.Kind]
	for _, slot := range s.words {
		if w := slot.write(e); w != "" {
			words = append(words, w)
		}
	}
	attrs := append(s.attrs[:len(s.attrs):len(s.attrs)], noteAttr)
	if e.Stats == nil && (e.Kind == Sample || e.Kind == Return || e.Kind == Sealed) {
		attrs = []attr{noteAttr}
	}
	for _, a := range attrs {
		if v := a.write(e); v != "" {
			words = append(words, a.name+"="+v)
		}
	}
	return words
}

// lineWriter omits what Parse infers: a time that is equal to the time of the line
// before, and the call of a Return if it is the innermost open call of the goroutine.
type lineWriter struct {
	now   time.Duration
	calls openCalls
}

func (w *lineWriter) line(e Event) string {
	note := e.Note
	e.Note = ""
	words := e.words()
	if e.At != w.now {
		words = append([]string{"@" + e.At.String()}, words...)
		w.now = e.At
	}
	if e.Kind == Return || e.Kind == Admit {
		if inferred := w.calls.find(e); inferred != e.Call {
			words = append(words, "call="+number(e.Call))
		}
	}
	if note != "" {
		words = append(words, "note="+strconv.Quote(note))
	}
	w.calls.step(e)
	return strings.Join(words, " ")
}

// openCalls has, for each goroutine, the Invokes that have not returned.
type openCalls map[int64][]Event

// find returns the position of the innermost open call that fits a Return or Admit, or 0.
func (o openCalls) find(e Event) int {
	open := o[e.G]
	for i := len(open) - 1; i >= 0; i-- {
		if open[i].Op == e.Op && open[i].ID == e.ID {
			return open[i].N
		}
	}
	return 0
}

func (o openCalls) step(e Event) {
	switch e.Kind {
	case Invoke:
		o[e.G] = append(o[e.G], e)
	case Return:
		o.drop(e.Call)
	}
}

func (o openCalls) drop(call int) {
	for g, open := range o {
		for i := range open {
			if open[i].N == call {
				o[g] = append(open[:i:i], open[i+1:]...)
				return
			}
		}
	}
}

// formatRules writes the rules as words, in a fixed order.
func formatRules(r Rules) string {
	words := []string{}
	add := func(on bool, w string) {
		if on {
			words = append(words, w)
		}
	}
	add(r.Virtual, "virtual")
	add(r.AtRest, "rest")
	add(r.Spawner, "spawner")
	add(r.Overlap, "overlap")
	add(r.Breaks, "breaks")
	for i, w := range partWords {
		add(r.Has(1<<i), w)
	}
	add(r.QueueBound != 0, fmt.Sprintf("bound=%d", r.QueueBound))
	add(r.Batch != 0, fmt.Sprintf("batch=%d", r.Batch))
	add(r.Slack != 0, fmt.Sprintf("slack=%v", r.Slack))
	add(r.Late != 0, fmt.Sprintf("late=%v", r.Late))
	add(r.IdleTurns != 0, fmt.Sprintf("idle=%d", r.IdleTurns))
	add(r.Drain != DrainChannels, "drain="+r.Drain.String())
	add(r.Timers != CancelTimers, "timers="+r.Timers.String())
	return strings.Join(words, " ")
}
