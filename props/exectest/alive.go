package exectest

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
)

// labelKey is the profiler label that the goroutines of a run carry: those
// that a labelled goroutine starts inherit it.
const labelKey = "exectest-run"

// counter returns a function that counts the living goroutines of a run, for a call
// now and later ones. In a bubble these are the bubble's; in real time those that carry
// the run's label, which leaves out the ones that the runtime's timers start. Unless
// exact is wanted, it counts nothing in real time, and in a bubble only if the process
// has more goroutines than now: a stack dump takes longer than most runs.
func counter(c *config, label string, exact bool) func() int {
	switch {
	case exact && c.realTime:
		return func() int { return labelled(label) }
	case exact:
		return bubbled
	case c.realTime:
		return func() int { return 0 }
	}
	fresh, before := inFreshBubble(), runtime.NumGoroutine()
	return func() int {
		if runtime.NumGoroutine() <= before {
			return fresh
		}
		return bubbled()
	}
}

// inFreshBubble is the number of goroutines of a bubble in which nothing has happened.
var inFreshBubble = sync.OnceValue(bubbled)

// bubbled counts the goroutines of the caller's bubble. Their headers in a
// stack dump name it: goroutine 7 [select (durable), synctest bubble 3]:
func bubbled() int {
	const mark = ", synctest bubble "
	var own, all []byte
	for size := 1 << 16; ; size *= 2 {
		all = make([]byte, size)
		if n := runtime.Stack(all, true); n < size {
			all = all[:n]
			break
		}
	}
	count := 0
	for line := range bytes.Lines(all) {
		i := bytes.Index(line, []byte(mark))
		if i < 0 || !bytes.HasPrefix(line, []byte("goroutine ")) {
			continue
		}
		id := bytes.TrimRight(line[i+len(mark):], "]:\n")
		if own == nil {
			own = id // the caller comes first
		}
		if bytes.Equal(id, own) {
			count++
		}
	}
	return count
}

// labelled counts the goroutines that carry the label.
func labelled(label string) int {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		panic(fmt.Sprintf("exectest: goroutine profile: %v", err))
	}
	mark := []byte(strconv.Quote(labelKey) + ":" + strconv.Quote(label))
	sum, alike := 0, 0 // a line "3 @ ..." opens each group of goroutines that are alike
	for line := range bytes.Lines(profile.Bytes()) {
		if i := bytes.IndexByte(line, '@'); i > 0 {
			alike, _ = strconv.Atoi(string(bytes.TrimSpace(line[:i])))
		}
		if bytes.Contains(line, mark) {
			sum += alike
		}
	}
	return sum
}
