package history

import (
	"fmt"
	"io"
)

// Report writes a violation as text: the sentence, the program with one line for each
// call and its answer, the trace with one column for each goroutine, and the command that
// repeats the run. It returns the first error of w.
func Report(w io.Writer, h *History, v Violation, replay string) error {
	out := &firstError{w: w}
	fmt.Fprintf(out, "%v\n\n", v)
	fmt.Fprintln(out, "program")
	h.program(out)
	fmt.Fprintln(out, "\ntrace")
	out.fail(Columns(out, h, v.At...))
	fmt.Fprintf(out, "\nreplay  %s\n", replay)
	return out.err
}

// program writes the calls in order, each with the goroutine that made it.
func (h *History) program(w io.Writer) {
	names := h.Goroutines()
	for _, c := range h.calls {
		who := names[c.inv.G]
		if c.within != nil {
			who = "in " + c.within.entry.what()
		}
		answer := "(no answer)"
		if c.ret != nil {
			answer = c.ret.answerText()
		}
		fmt.Fprintf(w, "  @%-8v %-12s %s -> %s\n", c.inv.At, who, c.inv.callText(), answer)
	}
}

// firstError is a writer that keeps its first error and writes nothing after it.
type firstError struct {
	w   io.Writer
	err error
}

// Write writes unless a write has failed before.
func (i *firstError) Write(p []byte) (int, error) {
	if i.err != nil {
		return 0, i.err
	}
	_, err := i.w.Write(p)
	i.fail(err)
	return len(p), i.err
}

func (i *firstError) fail(err error) {
	if i.err == nil {
		i.err = err
	}
}
