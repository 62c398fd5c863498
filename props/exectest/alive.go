package exectest

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
)

// labelKey is the profiler label of the goroutines of a run. A goroutine inherits it from
// the goroutine that starts it.
const labelKey = "exectest-run"

// counter returns a function that counts the living goroutines of a run. In a bubble it
// counts the goroutines of the bubble; in real time it counts those with the label of the
// run; goroutines that timers of the runtime start do not have the label. If exact is
// false, it counts nothing in real time, and in a bubble only if the process has more
// goroutines than at the call of counter: a stack dump takes longer than most runs.
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

// inFreshBubble returns the number of goroutines in a new bubble.
var inFreshBubble = sync.OnceValue(bubbled)

// bubbled counts the goroutines of the caller's bubble. Their headers in a stack dump
// name the bubble: goroutine 7 [select (durable), synctest bubble 3]:
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
			own = id // the caller's stack comes first
		}
		if bytes.Equal(id, own) {
			count++
		}
	}
	return count
}

// labelled counts the goroutines with the label.
func labelled(label string) int {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		panic(fmt.Sprintf("exectest: goroutine profile: %v", err))
	}
	mark := []byte(strconv.Quote(labelKey) + ":" + strconv.Quote(label))
	sum, alike := 0, 0 // a line "3 @ ..." begins each group of equal stacks
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
