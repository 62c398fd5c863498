//go:build linux

package exits

import (
	"fmt"
	"slices"
	"strings"

	"eventide/core/process"
)

// judgeLog compares the lines about the exit: one for each part that was begun, one for each that is
// left, and one for the exit. Of a handler that blocks only the first lines are there.
func (r *run) judgeLog(got process.Report) {
	lines, exit := r.log.all()
	if r.p.Logger == "blocks" {
		return
	}
	r.judgeRecords(got)
	x := r.want
	count := func(prefix string) (n int) {
		for _, l := range lines {
			if l == prefix || strings.HasPrefix(l, prefix+" ") && !strings.HasSuffix(prefix, " exit") {
				n++
			}
		}
		return n
	}
	expect := func(prefix string, want int) {
		if n := count(prefix); n != want {
			r.violate("the log has %d lines %q, want %d: %q", n, prefix, want, lines)
		}
	}
	all := append([]process.StepReport{got.NotReady}, got.Steps...)
	rows := append([]*row{x.notReady}, x.steps...)
	for i, s := range all {
		w := rows[i]
		if w == nil || w.undecided || w.end == x.now {
			continue
		}
		expect("INFO step begins "+s.Name, 1)
		r.expectResult(s, w, expect)
	}
	if w := x.start; w != nil && !w.undecided && w.end != x.now {
		r.expectResult(got.Start, w, expect)
	}
	expect("INFO exit begins", map[bool]int{false: 1}[x.failsToStart()])
	expect("ERROR exit begins", map[bool]int{true: 1}[x.failsToStart()])
	skipped := map[bool]int{true: 1}[x.preDrainSkipped]
	expect("WARN PreDrain is skipped: Start has failed", skipped)
	expect("INFO exit", map[bool]int{true: 1}[got.Code == 0]) // "exit begins" is another message
	expect("ERROR exit", map[bool]int{true: 1}[got.Code != 0])
	ended := any(nil)
	if got.Ended != nil {
		ended = got.Ended
	}
	if exit["code"] != int64(got.Code) || exit["lost"] != got.Lost() || exit["elapsed"] != got.Elapsed || exit["ended"] != ended ||
		fmt.Sprint(exit["still_running"]) != orNil(got.StillRunning()) || fmt.Sprint(exit["not_begun"]) != orNil(got.NotBegun()) {
		r.violate("the line \"exit\" has %v, and the report is %+v", exit, got)
	}
	if r.p.Manager.Broken && r.p.Manager.Address != "" && !slices.ContainsFunc(lines, func(l string) bool {
		return l == "WARN the service manager was not notified"
	}) {
		r.violate("the service manager was not told STOPPING=1, and the log does not say so")
	}
}

func orNil(names []string) string {
	if names == nil {
		return fmt.Sprint(nil)
	}
	return fmt.Sprint(names)
}

// failsToStart reports whether Start, or a part, has failed when the exit begins.
func (x *exit) failsToStart() bool {
	return strings.HasPrefix(x.cause, "part ") || x.startFailedBy(x.begin)
}

// expectResult expects the line with the result of a part.
func (r *run) expectResult(s process.StepReport, w *row, expect func(string, int)) {
	x := r.want
	result := "INFO step done " + s.Name
	switch {
	case w.late:
		result = "ERROR step's deadline passed " + s.Name
	case w.end > x.now:
		result = "ERROR still running " + s.Name
	case w.failure != "":
		result = "ERROR step failed " + s.Name
	case s.Lost > 0:
		result = "ERROR step done, and accepted tasks were not run " + s.Name
	case s.Work.ChannelsHeld > 0:
		result = "ERROR step done, and channels were closed with answers in flight " + s.Name
	case s.Work.TimedOut:
		result = "WARN step done after its timeout " + s.Name
	case s.Work.WritesRefused > 0:
		result = "WARN step done, and channels refused writes " + s.Name
	case s.Work.ChannelsAborted > 0 || s.Work.BytesDiscarded > 0:
		result = "WARN step done, and channels were aborted " + s.Name
	}
	expect(result, 1)
	if w.late {
		expect("ERROR still running "+s.Name, map[bool]int{true: 1}[w.end > x.now])
	}
}
