package protocol

import (
	"fmt"
	"strconv"
	"strings"
)

// Kinds of decision.
const (
	ToGoroutine = byte(0)   // the goroutine with number To gets the turn
	ToClock     = byte('c') // the clock moves to the next timer; To is 0
	ToCase      = byte('s') // a select takes the To-th of its ready cases: sends first, then receives, in source order
	ToOrder     = byte('m') // a range over a map begins at place To
	ToFault     = byte('f') // an operation has a fault: 1 short, 2 reset, 4 slow, 8 files, 16 contexts, 32 cancels
	ToTimer     = byte('t') // of timers that are due at once, the To-th runs alone; or, 1, they wait while a goroutine goes on
)

// A Switch is a decision that differs from the default. The default is: the running
// goroutine goes on; if it cannot, the goroutine that has waited longest for the turn
// gets it; the clock stays; a select takes its first ready case; a map is ranged over
// in its own order; timers that are due run at once, in the order of their start;
// nothing has a fault.
//
// A decision is identified by the goroutine that has the turn and by the number of its
// operations so far. Operations of other goroutines do not count, so a switch keeps its
// meaning when switches before it are left out. A decision about timers belongs to no
// goroutine: G is 0, and N counts these decisions of the schedule.
type Switch struct {
	G    uint32 // goroutine that has, or loses, the turn; 0 is the test's first
	N    uint64 // number of its operation, from 1
	Kind byte   // ToGoroutine, ToClock, ToCase, ToOrder, ToTimer or ToFault
	To   uint32
}

// String returns the form that a request and a record have: 2.7:1 is "goroutine 1 gets
// the turn before operation 7 of goroutine 2". The other kinds are 2.7:c, 2.7:s1, 2.7:m5,
// 2.7:f1 and 0.3:t1.
func (s Switch) String() string {
	switch s.Kind {
	case ToGoroutine:
		return fmt.Sprintf("%d.%d:%d", s.G, s.N, s.To)
	case ToClock:
		return fmt.Sprintf("%d.%d:c", s.G, s.N)
	}
	return fmt.Sprintf("%d.%d:%c%d", s.G, s.N, s.Kind, s.To)
}

// FormatSwitches joins switches by commas.
func FormatSwitches(list []Switch) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = s.String()
	}
	return strings.Join(words, ",")
}

// ParseSwitches reads what FormatSwitches returns.
func ParseSwitches(s string) ([]Switch, error) {
	if s == "" {
		return nil, nil
	}
	var list []Switch
	for word := range strings.SplitSeq(s, ",") {
		one, err := parseSwitch(word)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

func parseSwitch(word string) (Switch, error) {
	at, to, ok1 := strings.Cut(word, ":")
	g, n, ok2 := strings.Cut(at, ".")
	if !ok1 || !ok2 || to == "" {
		return Switch{}, fmt.Errorf("protocol: switch %q: want goroutine.operation:to", word)
	}
	var s Switch
	if to[0] < '0' || to[0] > '9' {
		s.Kind, to = to[0], to[1:]
	}
	switch {
	case s.Kind == ToClock && to == "":
		to = "0"
	case s.Kind != ToGoroutine && s.Kind != ToCase && s.Kind != ToOrder && s.Kind != ToTimer && s.Kind != ToFault:
		return Switch{}, fmt.Errorf("protocol: switch %q: there is no kind %q", word, s.Kind)
	}
	numbers := [3]uint64{}
	for i, text := range []string{g, n, to} {
		bits := 32
		if i == 1 {
			bits = 64
		}
		var err error
		if numbers[i], err = strconv.ParseUint(text, 10, bits); err != nil {
			return Switch{}, fmt.Errorf("protocol: switch %q: %q is no number", word, text)
		}
	}
	s.G, s.N, s.To = uint32(numbers[0]), numbers[1], uint32(numbers[2])
	return s, nil
}
