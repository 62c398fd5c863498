package driver

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"eventide/props/interleave/protocol"
)

// sentences explain the verdicts.
var sentences = map[string]string{
	protocol.Failed:          "the test failed",
	protocol.Panicked:        "the process panicked",
	protocol.Exited:          "the test ended the process",
	protocol.Deadlock:        "the test waits, no goroutine can run, and no timer is left",
	protocol.PartialDeadlock: "goroutines wait for ever while others continue",
	protocol.Leak:            "the test returned, and goroutines that it started still wait a minute later",
	protocol.Livelock:        "goroutines run for ever without an end",
	protocol.Starvation:      "goroutines run for ever without an end, while one waits for a lock",
	protocol.Race:            "two goroutines access the same memory without synchronisation",
	protocol.LateFailure:     "the test failed after it had returned",
	verdictHung:              "a schedule did not end",
}

// A page is the text of one finding.
type page struct {
	strings.Builder
	search *search
	found  *found
	line   *timeline
}

// pageOf returns the report of a finding: the sentence, the minimal schedule with a
// column for each goroutine, the output of the test, the stacks, and how to repeat it.
func (s *search) pageOf(f *found) string {
	if f.kept != nil {
		return f.kept.Page
	}
	p := &page{search: s, found: f, line: newTimeline(f, s.test.Name, &sourceLines{})}
	p.line.keepOwn(s.pkg.Root)
	p.sentence()
	p.schedule()
	p.printed()
	p.stacks()
	p.repeat()
	return strings.TrimRight(p.String(), "\n")
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

func (p *page) sentence() {
	f := p.found
	p.printf("%s: %s\n", f.cause.Verdict, sentences[f.cause.Verdict])
	if f.cause.Message != "" && words(f.cause.Message) != words(sentences[f.cause.Verdict]) {
		p.block("  ", shortened(f.cause.Message))
	}
	if strings.HasPrefix(f.cause.Message, "panic: ") && len(f.cause.Where) == 1 {
		p.printf("  at %s\n", f.cause.Where[0])
	}
	if f.replay != nil {
		switch f.cause.Verdict {
		case protocol.Deadlock, protocol.PartialDeadlock, protocol.Leak, protocol.Starvation:
			for _, line := range p.line.waits(f.replay, p.search.pkg) {
				p.printf("  %s\n", line)
			}
		}
	}
	p.printf("found in schedule %d (seed %d, %s) after %v", f.first.Number, f.first.Seed, f.first.Strategy, f.after.Round(time.Millisecond))
	if f.times > 1 {
		p.printf(", and %d times more", f.times-1)
	}
	p.printf("\n%s\n", p.confirmation())
	if text := faultsOf(f.repeat.Switches); text != "" {
		p.printf("needs faults of the world outside: %s\n", text)
	}
	if f.timing {
		p.printf("depends on timing: a timer has to expire while a goroutine can run, so the test may only rely on a fast machine\n")
	}
}

// words is a sentence without punctuation.
func words(s string) string { return strings.ReplaceAll(s, ",", "") }

func (p *page) confirmation() string {
	f := p.found
	switch f.state {
	case repeatsMinimal:
		before := fmt.Sprint(f.original)
		if f.original == 0 && len(f.repeat.Switches) > 0 {
			before = fmt.Sprintf("more than %d", protocol.MaxSwitches)
		}
		return fmt.Sprintf("confirmed in a fresh process with %s of %s", plural(len(f.repeat.Switches), "switch", "switches"), before)
	case repeatsBySeed:
		return "confirmed in a fresh process by seed and number; its switches alone do not repeat it, so it is not minimal"
	case repeatsUntried:
		return "not confirmed in a fresh process, because the budget was over before the schedule ended; not minimal"
	case repeatsByPrefix:
		return fmt.Sprintf("does not repeat alone: state of the process; it repeats after %s in the same process", plural(int(f.prefix), "schedule", "schedules"))
	}
	return "does not repeat alone, nor after the schedules before it: it depends on more than the schedule"
}

// Sizes of the schedule in the report.
const (
	mostColumns = 5
	pageWidth   = 150
	mostRows    = 80
)

func (p *page) schedule() {
	rows, left := p.line.fold(mostRows)
	if len(rows) == 0 {
		return
	}
	lanes := p.line.active(rows)
	where := ""
	if file := p.line.oneFile(); file != "" {
		where = " of " + p.search.pkg.file(file)
	}
	p.printf("\nschedule, in the order in which the lines%s ran\n", where)
	if len(lanes) > mostColumns {
		p.list(rows, lanes)
	} else {
		p.columns(rows, lanes)
	}
	if left > 0 {
		p.printf("  (%d lines in the middle are left out)\n", left)
	}
	if p.line.others > 0 {
		p.printf("  (%s of other modules are left out)\n", plural(p.line.others, "line", "lines"))
	}
	if f := p.found.replay; f != nil {
		p.printf("  %d operations, %d decisions, %v of virtual time\n", f.Steps, f.Decisions, f.Virtual)
	}
}

// columns prints the rows with a column for each lane.
func (p *page) columns(rows []row, lanes []lane) {
	column := map[uint64]int{}
	widths := make([]int, len(lanes))
	titles := make([]string, len(lanes))
	for i, l := range lanes {
		column[l.number] = i
		titles[i] = fmt.Sprintf("g%d %s", l.number, l.name)
		widths[i] = len([]rune(titles[i]))
	}
	for _, r := range rows {
		i := column[r.g]
		widths[i] = max(widths[i], len([]rune(p.line.cell(r))))
	}
	fit(widths, pageWidth-12-3*len(lanes))
	print := func(time string, cells []string) {
		line := fmt.Sprintf("  %10s", time)
		for i, text := range cells {
			line += fmt.Sprintf(" | %-*s", widths[i], cut(text, widths[i]))
		}
		p.printf("%s\n", strings.TrimRight(line, " "))
	}
	print("time", titles)
	last := time.Duration(-1)
	for _, r := range rows {
		at := ""
		if r.at != last {
			at, last = shortDuration(r.at), r.at
		}
		cells := make([]string, len(lanes))
		cells[column[r.g]] = p.line.cell(r)
		print(at, cells)
	}
}

// fit narrows the widest columns until all of them fit into total.
func fit(widths []int, total int) {
	for {
		sum, widest := 0, 0
		for i, w := range widths {
			sum += w
			if w > widths[widest] {
				widest = i
			}
		}
		if sum <= total || widths[widest] <= 12 {
			return
		}
		widths[widest]--
	}
}

func (p *page) list(rows []row, lanes []lane) {
	for _, l := range lanes {
		p.printf("  g%d is %s\n", l.number, l.name)
	}
	for _, r := range rows {
		p.printf("  %10s  g%-3d %s\n", shortDuration(r.at), r.g, p.line.cell(r))
	}
}

// cell is the text of a row in its column. It names the file if the rows are from
// several files.
func (t *timeline) cell(r row) string {
	if r.moved {
		return fmt.Sprintf("-- before %s: g%d runs --", t.place(r), r.to)
	}
	text := t.place(r) + " " + r.text
	if r.value != "" {
		text += "  [" + r.value + "]"
	}
	if r.note != "" {
		text += "  <- " + r.note
	}
	return text
}

func (t *timeline) place(r row) string {
	if t.oneFile() != "" {
		return itoa(r.line)
	}
	return place(r.file, r.line)
}

// oneFile is the file of all rows, or "".
func (t *timeline) oneFile() string {
	file := ""
	for _, r := range t.rows {
		if file != "" && r.file != file {
			return ""
		}
		file = r.file
	}
	return file
}

// fold leaves out rows in the middle if there are more than most.
func (t *timeline) fold(most int) (rows []row, left int) {
	if len(t.rows) <= most {
		return t.rows, 0
	}
	head, tail := most/4, most-most/4
	rows = append(append(rows, t.rows[:head]...), t.rows[len(t.rows)-tail:]...)
	return rows, len(t.rows) - most
}

// active returns the lanes that have a row.
func (t *timeline) active(rows []row) []lane {
	has := map[uint64]bool{}
	for _, r := range rows {
		has[r.g] = true
	}
	var lanes []lane
	for _, l := range t.lanes {
		if has[l.number] {
			lanes = append(lanes, l)
		}
	}
	return lanes
}

// mostOutput bounds the test's own output in the report.
const mostOutput = 60

func (p *page) printed() {
	text := strings.TrimSpace(p.found.printed)
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	p.printf("\nthe test printed\n")
	if len(lines) > mostOutput {
		p.printf("  (the first %d of %d lines are left out)\n", len(lines)-mostOutput, len(lines))
		lines = lines[len(lines)-mostOutput:]
	}
	p.block("  ", strings.Join(lines, "\n"))
}

// mostMessage bounds the lines of a message in the report.
const mostMessage = 20

// shortened returns the beginning of a message that has many lines: a test may call Error
// in a loop.
func shortened(message string) string {
	lines := strings.Split(message, "\n")
	if len(lines) <= mostMessage {
		return message
	}
	return strings.Join(lines[:mostMessage], "\n") + fmt.Sprintf("\n(%d more lines)", len(lines)-mostMessage)
}

func (p *page) stacks() {
	if p.found.replay == nil || len(p.found.replay.Goroutines) == 0 {
		return
	}
	p.printf("\nstacks\n")
	old := 0
	for _, g := range p.found.replay.Goroutines {
		if g.Old {
			old++
			continue
		}
		if firstFrame(g.Stack, p.search.pkg) == "" {
			p.printf("  g%d, %s: in the standard library only\n", g.Number, g.State)
			continue
		}
		p.printf("  g%d, %s", g.Number, g.State)
		if object, op := p.line.waitsFor(g); object != "" && g.State != "running" && g.State != "ready" {
			p.printf(": %s of %s", op, object)
		}
		p.printf("\n")
		for _, frame := range p.frames(g.Stack) {
			p.printf("    %s\n", frame)
		}
		if g.Number != 0 {
			p.printf("    started by g%d\n", g.Parent)
		}
	}
	if old > 0 {
		p.printf("  %s left behind by earlier schedules\n", plural(old, "goroutine", "goroutines"))
	}
}

// frames are the frames of a stack outside of the standard library; with -v, all.
func (p *page) frames(stack string) []string {
	stack, _, _ = strings.Cut(strings.TrimSpace(stack), "\ncreated by ")
	lines := strings.Split(stack, "\n")
	var frames []string
	for i := 1; i < len(lines); i += 2 {
		m := frameFile.FindStringSubmatch(lines[i])
		if m == nil || inStandardLibrary(m[1]) && !p.search.opts.Verbose {
			continue
		}
		name := lines[i-1]
		if j := strings.LastIndexByte(name, '('); j > 0 {
			name = name[:j]
		}
		frames = append(frames, fmt.Sprintf("%s  %s", name, p.search.pkg.file(m[1])))
	}
	return frames
}

func (p *page) repeat() {
	p.printf("\n")
	if p.found.file != "" && p.found.state != repeatsNot {
		p.printf("replay: %s replay %s\n", p.search.opts.Command, quoted(p.found.file))
	}
	if p.found.html != "" {
		p.printf("timeline: %s\n", p.found.html)
	}
}

func (p *page) block(indent, text string) {
	for _, line := range strings.Split(text, "\n") {
		p.printf("%s\n", strings.TrimRight(indent+line, " "))
	}
}

// quoted returns a word with the quotes that a shell needs.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// cut shortens s to width runes.
func cut(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	return string(r[:max(width-2, 0)]) + ".."
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// shortDuration leaves out digits that a column has no room for.
func shortDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond / 10).String()
	case d < time.Second:
		return d.Round(time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}
