package peers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The requests of the wire. A line is a word and key=value pairs, all times are
// nanoseconds:
//
//	about                        what implementation of what version
//	execute producers=P n=N      ops= elapsed=
//	inloop n=N                   ops= elapsed=
//	roundtrip pause=NS n=N       samples= void=
//	peak n=N                     ops= elapsed=, of tasks that read the clock
//	latency rate=R warm=W n=N    samples=, R tasks per second, from when each was due; W
//	                             tasks before them are not measured
//	schedulecancel where=W n=N   ops= elapsed=, W is loop or outside
//	lateness n=N                 samples=
//	shutdown n=N                 samples=
//	overshoot quiet=NS n=N       samples= short=
//	backlog tasks=N              ops=1 elapsed= lost=
//	echo-start burn=K            port=, with K threads beside it that never wait
//	echo-stop                    ops=1 elapsed=, those threads ended before
//	memory                       resident= heap= stack=, bytes of the driver's process,
//	                             of live objects and of their stacks, all garbage
//	                             collected and given back before
//
// Netty's alone: "program ..." (package props/netty), and "show rule=R", which shows a
// departure by a test of its own and says what it saw.
//
// A driver of several implementations takes impl=NAME first. An answer is "ok" and
// pairs, "none" and why the implementation does not have it, or "error" and a text.
// samples is a list value:count,value:count with values of three digits.
const (
	answerOK    = "ok"
	answerNone  = "none"
	answerError = "error"
)

// A Request is a line to a driver.
type Request struct {
	Word string
	Args map[string]string
}

func request(word string, pairs ...any) Request {
	r := Request{Word: word, Args: map[string]string{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		r.Args[pairs[i].(string)] = fmt.Sprint(pairs[i+1])
	}
	return r
}

// String is the line, with the arguments in alphabetical order.
func (r Request) String() string {
	line := r.Word
	keys := make([]string, 0, len(r.Args))
	for k := range r.Args {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		line += " " + k + "=" + r.Args[k]
	}
	return line
}

// ParseRequest reads a line.
func ParseRequest(line string) (Request, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	args, err := parsePairs(rest)
	if err != nil {
		return Request{}, err
	}
	if word == "" {
		return Request{}, fmt.Errorf("peers: empty request, want a word and key=value pairs")
	}
	return Request{word, args}, nil
}

// Int returns an argument that must be there and be 0 or more.
func (r Request) Int(key string) (int, error) {
	n, err := strconv.Atoi(r.Args[key])
	if err != nil || n < 0 {
		return 0, fmt.Errorf("peers: %s: %s is %q, want an integer of 0 or more", r.Word, key, r.Args[key])
	}
	return n, nil
}

func parsePairs(text string) (map[string]string, error) {
	pairs := map[string]string{}
	for _, field := range strings.Fields(text) {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			return nil, fmt.Errorf("peers: %q is not key=value", field)
		}
		pairs[key] = value
	}
	return pairs, nil
}

// A Sample is a value that occurred so many times.
type Sample struct {
	Value int64 `json:"v"`
	Count int   `json:"c"`
}

// Samples are sorted by value.
type Samples []Sample

// collect rounds values to three digits and counts them.
func collect(values []int64) Samples {
	rounded := make([]int64, len(values))
	for i, v := range values {
		rounded[i] = roundTo3(v)
	}
	slices.Sort(rounded)
	var s Samples
	for _, v := range rounded {
		s = s.add(v, 1)
	}
	return s
}

// add counts a value that is not less than those before.
func (s Samples) add(value int64, count int) Samples {
	if last := len(s) - 1; last >= 0 && s[last].Value == value {
		s[last].Count += count
		return s
	}
	return append(s, Sample{value, count})
}

// roundTo3 keeps three digits.
func roundTo3(v int64) int64 {
	unit := int64(1)
	for v/unit >= 1000 || v/unit <= -1000 {
		unit *= 10
	}
	half := unit / 2
	if v < 0 {
		half = -half
	}
	return (v + half) / unit * unit
}

// Total is how many values there are.
func (s Samples) Total() int {
	n := 0
	for _, x := range s {
		n += x.Count
	}
	return n
}

// Quantile returns the least value that percent of all are no greater than.
func (s Samples) Quantile(percent float64) float64 {
	rank := int(float64(s.Total())*percent/100+0.999999) - 1
	for _, x := range s {
		if rank -= x.Count; rank < 0 {
			return float64(x.Value)
		}
	}
	return float64(s[len(s)-1].Value)
}

// String is how samples are written on the wire.
func (s Samples) String() string {
	parts := make([]string, len(s))
	for i, x := range s {
		parts[i] = fmt.Sprintf("%d:%d", x.Value, x.Count)
	}
	return strings.Join(parts, ",")
}

// parseSamples reads what String wrote; the values may be in any order.
func parseSamples(text string) (Samples, error) {
	var s Samples
	for part := range strings.SplitSeq(text, ",") {
		value, count, _ := strings.Cut(part, ":")
		v, err := strconv.ParseInt(value, 10, 64)
		n, err2 := strconv.Atoi(count)
		if err != nil || err2 != nil || n < 1 {
			return nil, fmt.Errorf("peers: sample %q, want value:count", part)
		}
		s = append(s, Sample{v, n})
	}
	slices.SortFunc(s, func(a, b Sample) int { return int(max(-1, min(1, a.Value-b.Value))) })
	return s, nil
}

// An Answer is what came of a request.
type Answer struct {
	Ops     int     `json:"ops,omitempty"`
	Elapsed int64   `json:"elapsed_ns,omitempty"` // of all operations
	Samples Samples `json:"samples,omitempty"`    // of each, instead
	Void    int     `json:"void,omitempty"`       // did not measure what they should, and do not count
	Short   int     `json:"short,omitempty"`      // waits that ended early, which they must not
	Lost    int     `json:"lost,omitempty"`       // tasks accepted that never ran
	None    string  `json:"none,omitempty"`       // why the implementation does not have it
	NotRun  string  `json:"not_run,omitempty"`    // why this machine cannot tell

	// Bytes: of a process, or how many more there are of them for Ops connections.
	Resident int64 `json:"resident_bytes,omitempty"`
	Heap     int64 `json:"heap_bytes,omitempty"`
	Stack    int64 `json:"stack_bytes,omitempty"`

	text map[string]string // of about, echo-start
}

// Version is the answer to about.
func (a Answer) Version() string { return a.text["version"] }

// Text is any other pair of an answer, with blanks for underscores.
func (a Answer) Text(key string) string { return strings.ReplaceAll(a.text[key], "_", " ") }

// String is the line of the answer.
func (a Answer) String() string {
	if a.None != "" {
		return answerNone + " " + a.None
	}
	line := answerOK
	add := func(key string, v int64) {
		if v != 0 {
			line += fmt.Sprintf(" %s=%d", key, v)
		}
	}
	add("ops", int64(a.Ops))
	add("elapsed", a.Elapsed)
	add("void", int64(a.Void))
	add("short", int64(a.Short))
	add("lost", int64(a.Lost))
	add("resident", a.Resident)
	add("heap", a.Heap)
	add("stack", a.Stack)
	if len(a.Samples) > 0 {
		line += " samples=" + a.Samples.String()
	}
	for _, key := range []string{"port", "version"} {
		if v, ok := a.text[key]; ok {
			line += " " + key + "=" + strings.ReplaceAll(v, " ", "_")
		}
	}
	return line
}

// ParseAnswer reads a line; an "error" line is an error.
func ParseAnswer(line string) (Answer, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch word {
	case answerNone:
		return Answer{None: rest}, nil
	case answerError:
		return Answer{}, fmt.Errorf("the driver says: %s", rest)
	case answerOK:
	default:
		return Answer{}, fmt.Errorf("peers: answer %q, want ok, none or error", line)
	}
	pairs, err := parsePairs(rest)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{text: pairs}
	for key, to := range map[string]*int{"ops": &a.Ops, "void": &a.Void, "short": &a.Short, "lost": &a.Lost} {
		if v, ok := pairs[key]; ok {
			if *to, err = strconv.Atoi(v); err != nil {
				return Answer{}, fmt.Errorf("peers: answer %q: %w", line, err)
			}
		}
	}
	for key, to := range map[string]*int64{"elapsed": &a.Elapsed, "resident": &a.Resident, "heap": &a.Heap, "stack": &a.Stack} {
		if v, ok := pairs[key]; ok {
			if *to, err = strconv.ParseInt(v, 10, 64); err != nil {
				return Answer{}, fmt.Errorf("peers: answer %q: %w", line, err)
			}
		}
	}
	if v, ok := pairs["samples"]; ok {
		a.Samples, err = parseSamples(v)
	}
	return a, err
}
