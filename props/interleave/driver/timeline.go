package driver

import (
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"eventide/props/interleave/protocol"
)

// A timeline is the trace of a schedule in the order in which its operations ran.
type timeline struct {
	rows    []row
	lanes   []lane            // in order of birth
	names   map[uint64]string // of objects, from the source lines that use them
	lines   *sourceLines
	skipped int // operations within the standard library
	others  int // rows of other modules that are left out
	clock   time.Duration
}

// A lane is a goroutine of a timeline.
type lane struct {
	number uint64
	name   string // function that the goroutine began with, or the test
	state  string // at the end: ended, or as the process reported it
}

// A row is one source line of one goroutine, or a switch.
type row struct {
	at    time.Duration
	g     uint64
	file  string
	line  uint64
	text  string // source line
	op    string
	obj   uint64
	note  string // waits, waits for ever or panics
	value string // what its first operations found, separated by semicolons
	moved bool   // the turn was taken from g before the line ran
	to    uint64 // goroutine that got it
}

// newTimeline puts the operations of f into the order in which they ran. An operation
// is recorded before it runs; if its goroutine loses the turn at that point, the
// operation runs when the goroutine gets the turn back.
func newTimeline(f *found, testName string, lines *sourceLines) *timeline {
	t := &timeline{names: map[uint64]string{}, lines: lines}
	t.collectLanes(f, testName)
	b := &timelineBuilder{timeline: t, pending: map[uint64]protocol.Op{}, waits: map[uint64]int{}}
	for _, op := range f.ops {
		b.add(op)
	}
	for _, l := range t.lanes {
		if op, ok := b.pending[l.number]; ok && l.state != "ready" {
			b.emit(op)
		}
	}
	t.markEnds(f)
	t.nameObjects()
	return t
}

// A timelineBuilder follows the turn through a trace.
type timelineBuilder struct {
	*timeline
	pending map[uint64]protocol.Op // operations before which a goroutine lost its turn
	waits   map[uint64]int         // rows at which goroutines gave the turn away
	current uint64
}

func (b *timelineBuilder) add(op protocol.Op) {
	if op.Name == turnOp {
		if i := b.lastRow(op.Goroutine); i >= 0 {
			b.waits[op.Goroutine] = i
		}
		b.resume(op.Next)
		return
	}
	if op.Goroutine != b.current {
		b.resume(op.Goroutine)
	}
	if op.Next == op.Goroutine {
		b.emit(op)
		return
	}
	b.pending[op.Goroutine] = op
	b.emitSwitch(op)
	b.resume(op.Next)
}

// resume gives g the turn. If g had given the turn away, its last row gets the note
// "waits".
func (b *timelineBuilder) resume(g uint64) {
	if i, ok := b.waits[g]; ok {
		delete(b.waits, g)
		b.rows[i].note = "waits"
	}
	if op, ok := b.pending[g]; ok {
		delete(b.pending, g)
		b.emit(op)
	}
	b.current = g
}

// lastRow is the index of the last line that g ran, or -1.
func (t *timeline) lastRow(g uint64) int {
	for i := len(t.rows) - 1; i >= 0; i-- {
		if r := &t.rows[i]; r.g == g && !r.moved {
			return i
		}
	}
	return -1
}

func (t *timeline) collectLanes(f *found, testName string) {
	t.lanes = append(t.lanes, lane{0, testName, "ended"})
	index := map[uint64]int{0: 0}
	add := func(g uint64, name string) int {
		i, ok := index[g]
		if !ok {
			i = len(t.lanes)
			index[g] = i
			t.lanes = append(t.lanes, lane{number: g, name: name, state: "ended"})
		}
		return i
	}
	for _, op := range f.ops {
		if op.Name == turnOp {
			continue
		}
		name := shortFunc(op.Func)
		if start := f.born[op.Goroutine]; start != "" && !libraryFunc(start) && !wrapper.MatchString(start) {
			name = shortFunc(start)
		}
		if op.Goroutine == 1 {
			name = testName
		}
		add(op.Goroutine, name)
	}
	if f.replay == nil {
		return
	}
	for _, g := range f.replay.Goroutines {
		if g.Old {
			continue
		}
		i := add(g.Number, "")
		t.lanes[i].state = g.State
		if name := startFunc(g.Stack); name != "" && g.Number != 0 {
			t.lanes[i].name = name
		}
	}
}

func (t *timeline) emit(op protocol.Op) {
	if op.File == "" || inStandardLibrary(op.File) {
		t.skipped++
		return
	}
	text := t.lines.at(op.File, op.Line)
	if name := objectName(op.Name, text); name != "" && op.Object != 0 && t.names[op.Object] == "" {
		t.names[op.Object] = name
	}
	t.clock = max(t.clock, op.Time)
	if n := len(t.rows); n > 0 {
		last := &t.rows[n-1]
		if !last.moved && last.g == op.Goroutine && last.file == op.File && last.line == op.Line {
			last.op, last.obj = op.Name, op.Object
			last.found(op.Value)
			return
		}
	}
	t.rows = append(t.rows, row{at: t.clock, g: op.Goroutine, file: op.File, line: op.Line, text: text, op: op.Name, obj: op.Object})
	t.rows[len(t.rows)-1].found(op.Value)
}

// mostValues bounds the values of a row: a loop on one line is one row.
const mostValues = 4

// found adds what an operation of the row found.
func (r *row) found(value string) {
	switch {
	case value == "":
	case r.value == "":
		r.value = value
	case strings.Count(r.value, "; ") < mostValues-1:
		r.value += "; " + value
	}
}

func (t *timeline) emitSwitch(op protocol.Op) {
	if op.File == "" || inStandardLibrary(op.File) {
		return
	}
	t.clock = max(t.clock, op.Time)
	t.rows = append(t.rows, row{at: t.clock, g: op.Goroutine, file: op.File, line: op.Line, moved: true, to: op.Next})
}

// waitsForEver is the note of a goroutine's last row.
const waitsForEver = "waits for ever"

// markEnds marks the last row of each goroutine that waits for ever.
func (t *timeline) markEnds(f *found) {
	if f.replay == nil {
		return
	}
	for _, g := range f.replay.Goroutines {
		if f.panics(g) {
			t.addPanic(g)
		}
		if g.Old || g.State == "running" || g.State == "ready" || g.Object == 0 {
			continue
		}
		if i := t.lastRow(g.Number); i >= 0 {
			t.rows[i].note = waitsForEver
		}
	}
}

// panics says whether g is the goroutine whose panic ended the process.
func (f *found) panics(g protocol.Goroutine) bool {
	return g.State == "running" && strings.HasPrefix(f.cause.Message, "panic: ") && firstLine(g.Stack) != ""
}

// addPanic adds a row for the line at which a goroutine panicked, which may have no
// operation.
func (t *timeline) addPanic(g protocol.Goroutine) {
	file, line, ok := firstPlace(g.Stack)
	if !ok {
		return
	}
	const note = "panics"
	if i := t.lastRow(g.Number); i == len(t.rows)-1 && i >= 0 && t.rows[i].file == file && t.rows[i].line == line {
		t.rows[i].note = note
		return
	}
	t.rows = append(t.rows, row{at: t.clock, g: g.Number, file: file, line: line, text: t.lines.at(file, line), note: note})
}

// nameObjects adds a number to the names of objects that have the same name in the
// source.
func (t *timeline) nameObjects() {
	uses := map[string]int{}
	for _, name := range t.names {
		uses[name]++
	}
	for n, name := range t.names {
		if uses[name] > 1 {
			t.names[n] = name + "#" + itoa(n)
		}
	}
}

var (
	methodCall = regexp.MustCompile(`([A-Za-z_][\w.]*(?:\[[^\]]*\])?)\.(?:R?Lock|R?Unlock|Try\w*Lock|Wait|Signal|Broadcast|Add|Done|Go|Do|Load\w*|Store\w*|Swap\w*|CompareAnd\w+|Range|Delete)\(`)
	atomicCall = regexp.MustCompile(`atomic\.\w+\(&?([\w.]+)`)
	sendTo     = regexp.MustCompile(`([\w.]+(?:\[[^\]]*\])?)\s*<-\s*[^\s]`)
	recvFrom   = regexp.MustCompile(`<-\s*([\w.]+(?:\([^)]*\))?)`)
	closeOf    = regexp.MustCompile(`close\(([\w.]+)\)`)
	rangeOver  = regexp.MustCompile(`range\s+([\w.]+)`)
)

// objectName reads the name of the object of an operation from its source line.
func objectName(op, line string) string {
	patterns := []*regexp.Regexp{methodCall, atomicCall}
	switch op {
	case "send":
		patterns = []*regexp.Regexp{sendTo}
	case "recv":
		patterns = []*regexp.Regexp{recvFrom, rangeOver}
	case "close":
		patterns = []*regexp.Regexp{closeOf}
	}
	for _, re := range patterns {
		if m := re.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

// object names an object for a reader.
func (t *timeline) object(n uint64) string {
	if name := t.names[n]; name != "" {
		return name
	}
	return "object " + itoa(n)
}

// libraryFunc says whether a function belongs to a package of the standard library that
// starts goroutines for functions of the program. Its name would say nothing as the
// name of a lane.
func libraryFunc(name string) bool {
	return strings.HasPrefix(name, "sync.") || strings.HasPrefix(name, "testing.") || strings.HasPrefix(name, "time.") || strings.HasPrefix(name, "context.")
}

// wrapper is the name of a function that the compiler makes of a go statement with
// arguments. The name of the function that it calls is better.
var wrapper = regexp.MustCompile(`\.gowrap\d+$`)

// shortFunc is the last element of a function's full name.
func shortFunc(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if _, after, ok := strings.Cut(name, "."); ok {
		name = after
	}
	return strings.TrimSuffix(name, "-fm") // of a method value
}

var calledFunc = regexp.MustCompile(`^([\w./*()\[\]-]+)\(`)

// startFunc is the outermost function of a printed stack.
func startFunc(stack string) string {
	stack, _, _ = strings.Cut(stack, "\ncreated by ")
	name := ""
	for _, line := range strings.Split(stack, "\n") {
		if m := calledFunc.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if i := strings.LastIndexByte(line, '('); i > 0 && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "goroutine ") {
			name = line[:i]
		}
	}
	if strings.HasPrefix(name, "sync.(*WaitGroup).Go") || strings.HasPrefix(name, "testing.") {
		if frame := firstUserFunc(stack); frame != "" {
			return frame
		}
	}
	return shortFunc(name)
}

// firstUserFunc is the outermost function of a stack outside of the standard library.
func firstUserFunc(stack string) string {
	lines := strings.Split(stack, "\n")
	for i := len(lines) - 1; i > 0; i-- {
		if m := frameFile.FindStringSubmatch(lines[i]); m != nil && !inStandardLibrary(m[1]) {
			name := lines[i-1]
			if j := strings.LastIndexByte(name, '('); j > 0 {
				name = name[:j]
			}
			return shortFunc(name)
		}
	}
	return ""
}

// place is a source line for a reader: the base name of the file, and the line.
func place(file string, line uint64) string { return filepath.Base(file) + ":" + itoa(line) }
