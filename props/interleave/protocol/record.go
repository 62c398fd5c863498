package protocol

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Kinds of record, which are the first words of their lines.
const (
	// KindHello is the first record: v, and go for the release that built the process.
	KindHello = "hello"
	// KindError says in text why the process refuses its request.
	KindError = "error"
	// KindSchedule describes a finished schedule, see Schedule. Detail 1.
	KindSchedule = "schedule"
	// KindBorn describes a new goroutine: g, parent, and func for the function that it
	// runs. Detail 2.
	KindBorn = "born"
	// KindOp describes an operation, see Op. Detail 2.
	KindOp = "op"
	// KindValue says what the operation of goroutine g finds that is recorded last: v, the
	// value of an atomic variable, or how many values the buffer of a channel has of how
	// many, at the moment at which the operation is done. Detail 2.
	KindValue = "value"
	// KindTurn says that the turn moves at the end or in the middle of an operation,
	// because its holder waits or ends: g for the goroutine that loses it, and next.
	// Detail 2.
	KindTurn = "turn"
	// KindProgress carries the counts so far, see Counts, about ten times a second,
	// also while the program does not come to an operation.
	KindProgress = "progress"
	// KindFinding describes a schedule that did not pass, see Schedule. Goroutine
	// records and one end record follow.
	KindFinding = "finding"
	// KindGoroutine describes a goroutine at the moment of the finding, see Goroutine.
	KindGoroutine = "goroutine"
	// KindEnd ends a finding.
	KindEnd = "end"
	// KindOutside names something that the engine does not control, once for each
	// kind and schedule with a finding, and once for each kind at its first occurrence,
	// see Outside.
	KindOutside = "outside"
	// KindSummary carries the counts of the process, see Counts, when it ends by
	// os.Exit, which includes the ordinary end of a test.
	KindSummary = "summary"
)

// A Record is one line: a kind, and fields.
type Record struct {
	Kind   string
	Fields map[string]string
}

// Text returns a field, or "".
func (r Record) Text(key string) string { return r.Fields[key] }

// Number returns a field that is a number in base 10, or 0x and base 16, or 0.
func (r Record) Number(key string) uint64 {
	n, _ := strconv.ParseUint(r.Fields[key], 0, 64)
	return n
}

// ParseRecord reads one line: the kind, then key=value pairs, separated by single
// blanks. A value that begins with a double quote is a Go string literal.
func ParseRecord(line string) (Record, error) {
	kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	if kind == "" {
		return Record{}, fmt.Errorf("protocol: a record without a kind: %q", line)
	}
	r := Record{Kind: kind, Fields: map[string]string{}}
	for rest != "" {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || key == "" || strings.ContainsAny(key, " \"") {
			return Record{}, fmt.Errorf("protocol: record %q: want key=value at %q", kind, rest)
		}
		value := after
		if strings.HasPrefix(after, `"`) {
			quoted, err := strconv.QuotedPrefix(after)
			if err != nil {
				return Record{}, fmt.Errorf("protocol: record %q: the value of %s has no end", kind, key)
			}
			value, _ = strconv.Unquote(quoted)
			after = after[len(quoted):]
			if after != "" && after[0] != ' ' {
				return Record{}, fmt.Errorf("protocol: record %q: text behind the value of %s", kind, key)
			}
			rest = strings.TrimPrefix(after, " ")
		} else {
			value, rest, _ = strings.Cut(after, " ")
		}
		r.Fields[key] = value
	}
	return r, nil
}

// Read calls each for every record until the end of the input. It returns the error of
// the input, of a line that is no record, or of each. A last line without a newline
// belongs to a process that was killed, and is left out.
func Read(in io.Reader, each func(Record) error) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		record, err := ParseRecord(line)
		if err != nil {
			return err
		}
		if err := each(record); err != nil {
			return err
		}
	}
}

// Schedule is the content of schedule and finding records. The comment at each field
// names its key.
type Schedule struct {
	Verdict    string        // verdict
	Message    string        // message: the value of a panic, the text of a fatal error, or a sentence of the engine
	Number     uint64        // schedule
	Warm       bool          // warm: it is the warm-up of the process; Number is Request.First
	Seed       uint64        // seed
	Strategy   string        // strategy that made it: of a mix, the one whose turn it was
	Early      bool          // early: the clock moved while a goroutine could run
	Fair       uint64        // fair
	Longest    uint64        // longest: what pct expected
	Largest    uint64        // largest: operations of the largest schedule that passed
	Goroutines uint64        // goroutines that were born, the test's first included
	Steps      uint64        // steps: operations
	Decisions  uint64        // decisions: operations at which there was a choice
	Hash       uint64        // hash of all decisions: two runs with equal hashes took the same schedule
	Class      uint64        // class: hash of the happens-before relation of the operations
	NewClass   bool          // new: no earlier schedule of the process had the class
	Virtual    time.Duration // virtual: time that passed on the schedule's clock
	Moves      uint64        // moves of the clock
	Outside    uint64        // outside: what was not controlled in this schedule, all kinds together
	Unused     uint64        // unused: switches of the request that had no occasion
	Dropped    Part          // from, to: the part of Request.Drops that was left out
	// Switches are the decisions that differ from the default, if they are not Cut.
	Switches []Switch
	// Cut says that there were more than MaxSwitches; the value of switches is a
	// question mark then.
	Cut bool
}

// ScheduleOf reads a schedule or a finding record.
func ScheduleOf(r Record) (Schedule, error) {
	s := Schedule{
		Verdict: r.Text("verdict"), Message: r.Text("message"), Number: r.Number("schedule"), Warm: r.Number("warm") == 1, Seed: r.Number("seed"),
		Strategy: r.Text("strategy"), Early: r.Number("early") == 1, Fair: r.Number("fair"), Longest: r.Number("longest"), Largest: r.Number("largest"),
		Goroutines: r.Number("goroutines"), Steps: r.Number("steps"), Decisions: r.Number("decisions"),
		Hash: r.Number("hash"), Class: r.Number("class"), NewClass: r.Number("new") == 1,
		Virtual: time.Duration(r.Number("virtual")), Moves: r.Number("moves"), Outside: r.Number("outside"), Unused: r.Number("unused"),
		Dropped: Part{int(r.Number("from")), int(r.Number("to"))},
	}
	if r.Text("switches") == "?" {
		s.Cut = true
		return s, nil
	}
	var err error
	s.Switches, err = ParseSwitches(r.Text("switches"))
	return s, err
}

// Goroutine is the content of a goroutine record.
type Goroutine struct {
	Number  uint64 // g: in order of birth within the schedule; the test's first is 0
	Parent  uint64 // parent: the goroutine that started it
	State   string // state: running, ready, or the runtime's reason to wait
	Op      string // op: the operation that it was about to do, or waits in
	Object  uint64 // obj: the number of the object of the operation, or 0
	Holds   []uint64
	Old     bool   // old: it was born before this schedule
	Current bool   // current: it had the turn
	Stack   string // stack: as the runtime prints it, created by included
}

// GoroutineOf reads a goroutine record. Holds comes from the key holds: the numbers of
// the objects of the locks that the goroutine holds, separated by commas.
func GoroutineOf(r Record) Goroutine {
	g := Goroutine{Number: r.Number("g"), Parent: r.Number("parent"), State: r.Text("state"), Op: r.Text("op"),
		Object: r.Number("obj"), Old: r.Number("old") == 1, Current: r.Number("current") == 1, Stack: r.Text("stack")}
	for word := range strings.SplitSeq(r.Text("holds"), ",") {
		if n, err := strconv.ParseUint(word, 10, 64); err == nil {
			g.Holds = append(g.Holds, n)
		}
	}
	return g
}

// Op is the content of an op record: an operation, written before it is done.
type Op struct {
	Number    uint64        // n: in the schedule, from 1
	Goroutine uint64        // g: the goroutine that is about to do it
	Turn      uint64        // turn: the number of the operation among those of its goroutine, as in Switch.N
	Name      string        // op: lock, send, load and so on
	Object    uint64        // obj: a number for the object, in order of first use in the schedule, or 0
	Next      uint64        // next: the goroutine that gets the turn; if it is another one, the operation is done when the turn comes back
	Time      time.Duration // time: virtual, since the schedule began
	Func      string        // func: the function outside of the runtime and the sync packages that calls it
	File      string        // file of that call
	Line      uint64        // line of that call
	Value     string        // of the object before the operation, from a value record; "" if it is not known
}

// OpOf reads an op record.
func OpOf(r Record) Op {
	return Op{Number: r.Number("n"), Goroutine: r.Number("g"), Turn: r.Number("turn"), Name: r.Text("op"), Object: r.Number("obj"),
		Next: r.Number("next"), Time: time.Duration(r.Number("time")), Func: r.Text("func"), File: r.Text("file"), Line: r.Number("line")}
}

// Counts is the content of progress and summary records.
type Counts struct {
	Schedules uint64 // schedules that have ended
	Number    uint64 // schedule: the number of the schedule that is under way
	Steps     uint64 // steps of all schedules
	Decisions uint64 // decisions of all schedules
	Classes   uint64 // classes: different happens-before classes
	Singles   uint64 // singles: classes that one schedule had. Singles/Schedules estimates the chance that the next schedule has a new class
	Pairs     uint64 // pairs: different pairs of conflicting operations that two goroutines did one after the other on one object. A pair is told by the two kinds of operation and the functions that the goroutines began with
	Bound     uint64 // bound: preemptions up to which dfs is complete, plus 1; 0 is none
	Complete  bool   // complete: dfs has seen every schedule, whatever the bound
	Pruned    uint64 // pruned: schedules that dfs cut short at a state seen before
	// PCT are sums of the chances that schedules of the strategies pct2 to pct5 have to
	// show a bug of that depth, in units of PCTUnit: keys pct2 to pct5.
	PCT      [4]uint64
	Rescued  uint64 // rescued: schedules that ended only after a fair continuation
	Faults   uint64 // faults that happened
	Raw      uint64 // raw: system calls that blocked and gave the turn away
	Cgo      uint64 // cgo: calls of C functions
	Sockets  uint64 // sockets: waits for a descriptor of the kernel, and requests for one that memory cannot serve
	Children uint64 // children: processes that were started
	Signals  uint64 // signals that the program received
	GC       uint64 // gc: collections that the program asked for
	Scans    uint64 // scans: looks at all goroutines for one that waits for the kernel
	Away     bool   // away: of a progress record, nothing goes on because of a system call or a descriptor of the kernel
}

// PCTUnit is the chance 1 in Counts.PCT.
const PCTUnit = 1e12

// CountsOf reads a progress or a summary record.
func CountsOf(r Record) Counts {
	return Counts{Schedules: r.Number("schedules"), Number: r.Number("schedule"), Steps: r.Number("steps"), Decisions: r.Number("decisions"),
		Classes: r.Number("classes"), Singles: r.Number("singles"), Pairs: r.Number("pairs"), Bound: r.Number("bound"),
		Complete: r.Number("complete") == 1, Pruned: r.Number("pruned"), Rescued: r.Number("rescued"), Faults: r.Number("faults"),
		PCT: [4]uint64{r.Number("pct2"), r.Number("pct3"), r.Number("pct4"), r.Number("pct5")}, Raw: r.Number("raw"),
		Cgo: r.Number("cgo"), Sockets: r.Number("sockets"), Children: r.Number("children"), Signals: r.Number("signals"), GC: r.Number("gc"), Scans: r.Number("scans"),
		Away: r.Number("away") == 1}
}

// Outside is the content of an outside record.
type Outside struct {
	Kind     string // kind: raw, cgo, socket, child, signal or gc, as in Counts
	Schedule uint64 // schedule
	Func     string // func: where it happened first, or ""
	File     string // file
	Line     uint64 // line
}

// OutsideOf reads an outside record.
func OutsideOf(r Record) Outside {
	return Outside{Kind: r.Text("kind"), Schedule: r.Number("schedule"), Func: r.Text("func"), File: r.Text("file"), Line: r.Number("line")}
}
