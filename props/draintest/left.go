package draintest

import (
	"bytes"
	"maps"
	"runtime"
	"slices"
	"time"
)

// goroutines returns the stacks of all goroutines of the process. The key is the header
// without the state: "goroutine 7".
func goroutines() map[string]string {
	text := make([]byte, 1<<20)
	for {
		n := runtime.Stack(text, true)
		if n < len(text) {
			text = text[:n]
			break
		}
		text = make([]byte, 2*len(text))
	}
	all := map[string]string{}
	for stack := range bytes.SplitSeq(text, []byte("\n\n")) {
		name, _, _ := bytes.Cut(stack, []byte(" ["))
		all[string(name)] = string(stack)
	}
	return all
}

// left returns the goroutines, with their stacks, and the descriptors that did not exist
// before the server started. It tries for graceTicks, because the goroutine that closed
// Done may not have returned yet, and returns nil as soon as there are none.
func (r *round) left(before map[string]string, descriptorsBefore map[string]bool) []string {
	var found []string
	for range graceTicks {
		found = nil
		now := goroutines()
		for _, name := range slices.Sorted(maps.Keys(now)) {
			if _, old := before[name]; !old {
				found = append(found, now[name])
			}
		}
		open, _ := descriptors()
		for _, d := range slices.Sorted(maps.Keys(open)) {
			if !descriptorsBefore[d] {
				found = append(found, "descriptor "+d)
			}
		}
		if found == nil {
			return nil
		}
		time.Sleep(tick) // no event announces that a goroutine has returned
	}
	return found
}
