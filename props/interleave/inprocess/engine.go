package inprocess

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"eventide/props/interleave/protocol"
)

// The types of this file have the layout of those of the overlay's files
// runtime_embedded.go.txt, runtime_embeddedtrace.go.txt and runtime_switches.go.txt.

type request struct {
	strategy int
	seed     uint64
	number   uint64
	early    bool
	beside   bool
	traced   bool
	fair     uint64
	limit    uint64
	switches *turn
	n        int
	room     *turn
	nroom    int
}

type result struct {
	verdict    int
	steps      uint64
	decisions  uint64
	longest    uint64
	class      uint64
	turns      *turn
	nturns     int
	goroutines int
	abandoned  int
	handovers  int
	_          int // moves of the clock
	unused     int
	unfair     bool
	panicked   any
}

// turn is a switch as the engine has it.
type turn struct {
	n    uint64
	g    uint32
	to   uint32
	kind byte
	_    uint16 // place in a list
}

type site struct {
	file uintptr
	size int32
	line int32
}

type event struct {
	at      int64
	site    site
	g       uint32
	object  uint32
	op      uint8
	changes bool
	resumed bool
}

type stop struct {
	site  site
	g     uint32
	op    uint8
	waits bool
}

type lists struct {
	events  *event
	n       int
	turned  *site
	nturned int
	stops   *stop
	nstops  int
	unfair  *site
	nunfair int
	called  *uint32
	ncalled int
	marks   *uint32
	nmarks  int
}

// A Switch is a decision that differs from the default, see protocol.Switch. Site is the
// line of the goroutine that had the turn, if the schedule was traced.
type Switch struct {
	protocol.Switch
	Site string
}

// switchFile is a Switch in a file.
type switchFile struct {
	At   string `json:"at"` // as package protocol writes it
	Site string `json:"site,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (s Switch) MarshalJSON() ([]byte, error) { return json.Marshal(switchFile{s.String(), s.Site}) }

// UnmarshalJSON implements json.Unmarshaler.
func (s *Switch) UnmarshalJSON(data []byte) error {
	var f switchFile
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	list, err := protocol.ParseSwitches(f.At)
	if err != nil {
		return err
	}
	if len(list) != 1 {
		return fmt.Errorf("inprocess: got %d switches in %q, want 1", len(list), f.At)
	}
	s.Switch, s.Site = list[0], f.Site
	return nil
}

func turnsOf(switches []Switch) []turn {
	turns := make([]turn, len(switches))
	for i, s := range switches {
		turns[i] = turn{n: s.N, g: s.G, to: s.To, kind: s.Kind}
	}
	return turns
}

// room is where the engine enters the switches of a schedule.
var room []turn

// growRoom makes room for the switches of a schedule with so many operations. An operation
// has at most four: the clock moves, another goroutine goes on, a select takes another case,
// and after the goroutine was blocked another one goes on.
func growRoom(operations uint64) {
	if n := 4*int(operations) + 64; n > len(room) {
		room = make([]turn, max(n, 2*len(room)))
	}
}

// opNames are the operations by the numbers of the engine.
var opNames = [...]string{"other", "go", "yield", "send", "receive", "close", "select", "len", "lock", "wlock", "unlock",
	"rlock", "runlock", "trylock", "tryrlock", "wait", "signal", "add", "once", "map", "load", "store", "cas", "now",
	"read", "write", "control", "close connection", "socket"}

func opName(op uint8) string { return opNames[op] }

// lines are the names of places that were asked for.
var lines = map[site]string{}

// String returns dir/file.go:12, or "" for no place.
func (s site) String() string {
	if s.size == 0 {
		return ""
	}
	line, known := lines[s]
	if !known {
		// The file is a text of the binary, which stays where it is.
		file := unsafe.String(*(**byte)(unsafe.Pointer(&s.file)), int(s.size))
		line = fmt.Sprintf("%s/%s:%d", filepath.Base(filepath.Dir(file)), filepath.Base(file), s.line)
		lines[s] = line
	}
	return line
}

// result returns what the engine has left, for the program.
func (r *result) result(trace bool) *Result {
	out := &Result{
		Verdict: Verdict(r.verdict), Steps: int(r.steps), Decisions: int(r.decisions), Handovers: r.handovers,
		Class: r.class, Panic: r.panicked, Goroutines: r.goroutines,
	}
	quick := !trace && !r.unfair && out.Verdict == Finished
	if r.nturns > 0 {
		out.Switches = make([]Switch, r.nturns)
		for i, t := range unsafe.Slice(r.turns, r.nturns) {
			out.Switches[i].Switch = protocol.Switch{G: t.g, N: t.n, Kind: t.kind, To: t.to}
		}
	}
	if quick {
		return out
	}
	var l lists
	traced(&l)
	for _, s := range unsafe.Slice(l.stops, l.nstops) {
		out.Blocked = append(out.Blocked, s.text())
	}
	slices.Sort(out.Blocked)
	for _, s := range unsafe.Slice(l.unfair, l.nunfair) {
		out.Unfair = append(out.Unfair, s.String())
	}
	if trace {
		out.trace(&l)
	}
	return out
}

// trace fills in what only a traced schedule has.
func (r *Result) trace(l *lists) {
	for i, s := range unsafe.Slice(l.turned, min(l.nturned, len(r.Switches))) {
		r.Switches[i].Site = s.String()
	}
	for _, g := range unsafe.Slice(l.called, l.ncalled) {
		r.Callbacks = append(r.Callbacks, int(g))
	}
	for _, n := range unsafe.Slice(l.marks, l.nmarks) {
		r.Marks = append(r.Marks, int(n))
	}
	r.Trace = make([]Event, l.n)
	last := map[uint32]int{} // by goroutine: its last event
	for i, e := range unsafe.Slice(l.events, l.n) {
		r.Trace[i] = Event{
			G: int(e.g), Op: opName(e.op), Site: e.site.String(), At: time.Duration(e.at), Object: int(e.object), Write: e.changes,
		}
		if e.g == Clock {
			r.Trace[i].Op, r.Trace[i].Write = "clock", false
			continue
		}
		if before, ok := last[e.g]; ok && e.resumed { // that attempt has failed
			b := &r.Trace[before]
			b.In, b.Op, b.Write = b.Op, Blocked, false
		}
		last[e.g] = i
	}
}
