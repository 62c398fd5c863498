package driver

import (
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"

	"eventide/props/interleave/protocol"
)

// verdictHung is a schedule that the driver had to kill, because it neither ended nor
// came to an operation. The other verdicts are those of package protocol.
const verdictHung = "hung"

// A cause tells findings apart: two findings with equal keys are one.
type cause struct {
	Verdict string
	Message string   // as printed
	Where   []string // the stacks' first frames outside of the standard library, sorted
}

// key leaves the numbers of the message out, because counters and addresses differ
// between schedules that fail for one reason.
func (c cause) key() string {
	return c.Verdict + "\n" + normalise(c.Message) + "\n" + strings.Join(c.Where, "\n")
}

// same says whether d has the verdict and the message of c. The minimiser keeps both.
func (c cause) same(d cause) bool {
	return c.Verdict == d.Verdict && normalise(c.Message) == normalise(d.Message)
}

// like says whether d has the verdict and the message of c, without line numbers: the
// source may have changed since c was recorded.
func (c cause) like(d cause) bool {
	text := func(message string) string {
		return normalise(sourceLine.ReplaceAllStringFunc(message, func(at string) string { return at[:strings.LastIndexByte(at, ':')] }))
	}
	return c.Verdict == d.Verdict && text(c.Message) == text(d.Message)
}

// short is a cause in a line.
func (c cause) short() string {
	if line := firstLine(c.Message); line != "" {
		return line
	}
	return c.Verdict
}

// endless says whether the cause is that the schedule reached the limit of operations and
// did not end.
func (c cause) endless() bool {
	return c.Verdict == protocol.Livelock || c.Verdict == protocol.Starvation
}

var (
	sourceLine = regexp.MustCompile(`[\w./-]+\.go:\d+`)
	hexNumber  = regexp.MustCompile(`0x[0-9a-f]+`)
	number     = regexp.MustCompile(`\d+`)
	failLine   = regexp.MustCompile(`^\s+([\w.-]+\.go:\d+: .*)$`)
	raceAccess = regexp.MustCompile(`^(?:Previous )?(?:atomic )?(?:[Ww]rite|[Rr]ead) at 0x`)
	frameFile  = regexp.MustCompile(`^\s+(.+?\.go:\d+)(?:\s|$)`) // the name may have blanks
)

// normalise replaces numbers that are no source lines.
func normalise(s string) string {
	var b strings.Builder
	last := 0
	for _, m := range sourceLine.FindAllStringIndex(s, -1) {
		b.WriteString(number.ReplaceAllString(hexNumber.ReplaceAllString(s[last:m[0]], "0x?"), "N"))
		b.WriteString(s[m[0]:m[1]])
		last = m[1]
	}
	b.WriteString(number.ReplaceAllString(hexNumber.ReplaceAllString(s[last:], "0x?"), "N"))
	return b.String()
}

// causeOf reads the cause of a finding from the records of the controlled process and
// from what the process printed.
func causeOf(f *finding, output string, p *pkg) cause {
	c := cause{Verdict: f.Verdict, Message: f.Message}
	switch c.Verdict {
	case protocol.Failed, protocol.Exited, protocol.Panicked, protocol.Race:
		if accesses := raceAccesses(output, p); len(accesses) > 0 && panicLine(output) == "" {
			return cause{protocol.Race, "data race: " + strings.Join(accesses, " and "), nil}
		}
	}
	switch c.Verdict {
	case protocol.Failed:
		if lines := failLines(output); lines != "" {
			c.Message = lines
		}
	case protocol.Panicked, protocol.Exited, protocol.LateFailure:
		if line := panicLine(output); line != "" {
			if c.Verdict == protocol.Exited {
				c.Verdict = protocol.Panicked
			}
			c.Message, c.Where = line, panicFrames(output, p)
		}
	default:
		c.Where = f.where(p)
	}
	return c
}

// failLines returns what the test reported by Error and Fatal.
func failLines(output string) string {
	var lines []string
	in := false
	for _, line := range strings.Split(output, "\n") {
		switch {
		case strings.Contains(line, "--- FAIL:"):
			in = true
		case in && failLine.MatchString(line):
			if !strings.Contains(line, "race detected during execution") {
				lines = append(lines, strings.TrimSpace(line))
			}
		case !strings.HasPrefix(line, "    "):
			in = false
		}
	}
	return strings.Join(lines, "\n")
}

// panicLine returns the line that begins a panic or a fatal error.
func panicLine(output string) string {
	for _, line := range strings.Split(output, "\n") {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			line, _, _ = strings.Cut(line, " [recovered")
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// panicFrames returns the innermost frame outside of the standard library of the
// goroutine that panicked.
func panicFrames(output string, p *pkg) []string {
	_, after, ok := strings.Cut(output, "\ngoroutine ")
	if !ok {
		return nil
	}
	stack, _, _ := strings.Cut(after, "\n\n")
	if frame := firstFrame(stack, p); frame != "" {
		return []string{frame}
	}
	return nil
}

// firstPlace returns the file and the line of the innermost frame of a printed stack that
// is not of the standard library.
func firstPlace(stack string) (file string, line uint64, ok bool) {
	stack, _, _ = strings.Cut(stack, "\ncreated by ")
	for text := range strings.Lines(stack) {
		m := frameFile.FindStringSubmatch(strings.TrimRight(text, "\n"))
		if m == nil || inStandardLibrary(m[1]) {
			continue
		}
		i := strings.LastIndexByte(m[1], ':')
		line, err := strconv.ParseUint(m[1][i+1:], 10, 32)
		return m[1][:i], line, err == nil
	}
	return "", 0, false
}

// firstFrame returns the source line of the innermost frame of a printed stack that
// is not of the standard library; "" if there is none. The frame of the go statement,
// which the runtime prints last, does not count.
func firstFrame(stack string, p *pkg) string {
	if file, line, ok := firstPlace(stack); ok {
		return p.file(file + ":" + itoa(line))
	}
	return ""
}

// raceAccesses returns the source lines of the two accesses of the first data race
// that the output reports.
func raceAccesses(output string, p *pkg) []string {
	_, block, ok := strings.Cut(output, "WARNING: DATA RACE\n")
	if !ok {
		return nil
	}
	block, _, _ = strings.Cut(block, "==================")
	var found []string
	waiting := false
	for _, line := range strings.Split(block, "\n") {
		if raceAccess.MatchString(line) {
			waiting = true
			continue
		}
		if m := frameFile.FindStringSubmatch(line); waiting && m != nil && !inStandardLibrary(m[1]) {
			found = append(found, p.file(m[1]))
			waiting = false
		}
		if line == "" {
			waiting = false
		}
	}
	sort.Strings(found)
	return found
}

// inStandardLibrary says whether a file name of a stack is one of GOROOT. The overlay
// keeps the names of the files that it replaces. The go command makes _testmain.go.
func inStandardLibrary(file string) bool {
	return strings.HasPrefix(file, "_testmain.go") || underRoot.Load() != nil && strings.HasPrefix(file, *underRoot.Load())
}

// underRoot is the prefix of the file names of GOROOT.
var underRoot atomic.Pointer[string]

// file is the name of a source file in a cause and in a report: relative to the module,
// so that it is the same in every checkout. In the module cache it is relative to
// pkg/mod. Elsewhere it is the last directory and the base name.
func (p *pkg) file(name string) string {
	if rest, ok := strings.CutPrefix(name, p.Root+"/"); ok && p.Root != "" {
		return rest
	}
	if _, rest, ok := strings.Cut(name, "/pkg/mod/"); ok {
		return rest
	}
	return filepath.Join(filepath.Base(filepath.Dir(name)), filepath.Base(name))
}
