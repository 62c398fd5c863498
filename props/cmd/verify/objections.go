package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"eventide/props/lanes/sockets/shadow"
)

// objection is one thing that counts against a run. The exit code and the last lines of the output
// are made of them, so the one cannot be red without the other.
type objection struct {
	code  int    // 1: something was violated. 3: something was not shown, which counts if the run is strict
	text  string // whole; the first word says where
	again string // a command that repeats it, or ""
}

// objections lists what counts against the run, in the order of the table.
func (r report) objections() []objection {
	var all []objection
	all = append(all, r.Model.objections("model")...)
	all = append(all, r.Channels.objections("channels")...)
	for _, text := range r.Traces.Wrong {
		all = append(all, objection{1, "traces: wrong verdict: " + text, ""})
	}
	all = append(all, r.Real.objections()...)
	for i, s := range r.shadows() {
		all = append(all, s.objections(shadow.Lanes[i].Name)...)
	}
	for _, g := range r.Guarantees {
		all = append(all, g.objections()...)
	}
	return all
}

func (m modelReport) objections(name string) []objection {
	switch {
	case m.Violation != "":
		return []objection{{1, name + " violated: " + m.Violation, ""}}
	case !m.Complete:
		return []objection{{1, fmt.Sprintf("%s not complete: %d states were seen, and not all", name, m.States), ""}}
	}
	return nil
}

func (s shadowReport) objections(name string) []objection {
	switch s.Verdict {
	case pass:
		return nil
	case fail:
		return []objection{{1, fmt.Sprintf("%s after %d programs: %s", name, s.Programs, s.Reason),
			fmt.Sprintf("go run ./props/lanes/sockets/cmd/sockets -lane %s -case out/cases/%s-....json", name, name)}}
	}
	return []objection{{3, name + " not run: " + cmp.Or(s.Reason, "no program has run"), ""}}
}

func (g guaranteeRow) objections() []objection {
	switch {
	case g.Verdict == fail && g.Lanes[1].Verdict == fail:
		return []objection{{1, g.ID + " " + g.Reason, fmt.Sprintf("go run ./props/lanes/interleave/cmd/interleave -case out/cases/%s-....schedule", g.ID)}}
	case g.Verdict == fail:
		return []objection{{1, g.ID + " " + g.Reason, fmt.Sprintf("go test ./props -run '^TestReplay$' -case ../out/cases/%s-....case", g.ID)}}
	case g.Verdict == notRun && g.Minimum > 0:
		return []objection{{3, g.ID + " not run: " + g.Reason, ""}}
	}
	return nil
}

// exitCode is 1 for a violation of any kind and, if strict, 3 for a guarantee that
// is checked and did not count as passed, and if a lane over a model was not run.
func (r report) exitCode(strict bool) int {
	code := 0
	for _, o := range r.objections() {
		if o.code == 1 {
			return 1
		}
		if strict {
			code = o.code
		}
	}
	return code
}

// summary prints the counts and then, last, each objection: whoever sees only the end of a log
// learns what was wrong.
func (r report) summary(w io.Writer) {
	counts := map[string]int{}
	for _, g := range r.Guarantees {
		counts[g.Verdict]++
	}
	fmt.Fprintf(w, "\n%d pass, %d fail, %d not run, in %.0f s\n", counts[pass], counts[fail], counts[notRun], r.Seconds)
	for _, o := range r.objections() {
		fmt.Fprintf(w, "%s: %s\n", map[int]string{1: "FAILED", 3: "not shown"}[o.code], strings.ReplaceAll(o.text, "\n", "\n    "))
		if o.again != "" {
			fmt.Fprintf(w, "    again: %s\n", o.again)
		}
	}
}

// firstLine is what the table has room for.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
