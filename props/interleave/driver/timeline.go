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
	note  string // what happened there
	moved bool   // the turn was taken from g before the line ran
	to    uint64 // goroutine that got it
}

// newTimeline orders the operations of f. An operation is recorded before it is done;
// a goroutine that loses its turn there does it when it gets the turn back.
func newTimeline(f *found, testName string, lines *sourceLines) *timeline {
	t := &timeline{names: map[uint64]string{}, lines: lines}
	t.collectLanes(f, testName)
	pending := map[uint64]protocol.Op{}
	current := uint64(0)
	resume := func(g uint64) {
		if op, ok := pending[g]; ok {
			delete(pending, g)
			t.emit(op)
		}
		current = g
	}
	for _, op := range f.ops {
		if op.Goroutine != current {
			resume(op.Goroutine)
		}
		if op.Next == op.Goroutine {
			t.emit(op)
			continue
		}
		pending[op.Goroutine] = op
		t.emitSwitch(op)
		resume(op.Next)
	}
	for _, l := range t.lanes {
		if op, ok := pending[l.number]; ok && l.state != "ready" {
			t.emit(op)
		}
	}
	t.markEnds(f)
	return t
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
		add(op.Goroutine, shortFunc(op.Func))
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
	if n := len(t.rows); n > 0 {
		last := &t.rows[n-1]
		if !last.moved && last.g == op.Goroutine && last.file == op.File && last.line == op.Line {
			last.op, last.obj = op.Name, op.Object
			return
		}
	}
	t.rows = append(t.rows, row{at: op.Time, g: op.Goroutine, file: op.File, line: op.Line, text: text, op: op.Name, obj: op.Object})
}

func (t *timeline) emitSwitch(op protocol.Op) {
	if op.File == "" || inStandardLibrary(op.File) {
		return
	}
	t.rows = append(t.rows, row{at: op.Time, g: op.Goroutine, file: op.File, line: op.Line, moved: true, to: op.Next})
}

// markEnds marks the last row of each goroutine that waits for ever.
func (t *timeline) markEnds(f *found) {
	if f.replay == nil {
		return
	}
	for _, g := range f.replay.Goroutines {
		if g.Old || g.State == "running" || g.State == "ready" || g.Object == 0 {
			continue
		}
		for i := len(t.rows) - 1; i >= 0; i-- {
			if r := &t.rows[i]; r.g == g.Number && !r.moved {
				r.note = "waits for ever"
				break
			}
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

// shortFunc is the last element of a function's full name.
func shortFunc(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if _, after, ok := strings.Cut(name, "."); ok {
		return after
	}
	return name
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
