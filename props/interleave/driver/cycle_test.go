package driver

import (
	"strings"
	"testing"

	"eventide/props/interleave/protocol"
)

// Goroutines of earlier schedules have the numbers of the present one. A report names
// only those of the present one.
func TestEarlierGoroutinesDoNotWait(t *testing.T) {
	stack := "goroutine 9 [sync.Mutex.Lock]:\nexample.com/x.f(...)\n\t/src/x/x.go:7 +0x1\n"
	f := &finding{Goroutines: []protocol.Goroutine{
		{Number: 1, State: "sync.Mutex.Lock", Op: "lock", Object: 4, Holds: []uint64{5}, Stack: stack},
		{Number: 1, State: "chan receive", Op: "receive", Object: 8, Old: true, Stack: stack},
		{Number: 2, State: "chan receive", Op: "receive", Object: 9, Holds: []uint64{4}, Old: true, Stack: stack},
	}}
	found := &found{replay: f}
	p := &pkg{}
	lines := newTimeline(found, "TestX", &sourceLines{}).waits(f, p)
	if text := strings.Join(lines, "\n"); len(lines) != 1 || strings.Contains(text, "g2") || strings.Contains(text, "receive") {
		t.Errorf("the report names goroutines of earlier schedules:\n%s", text)
	}
	x := &page{search: &search{pkg: p, opts: &Options{}}, found: found, line: newTimeline(found, "TestX", &sourceLines{})}
	x.stacks()
	if text := x.String(); strings.Contains(text, "g2") || !strings.Contains(text, "2 goroutines left behind by earlier schedules") {
		t.Errorf("the stacks are those of earlier schedules too:\n%s", text)
	}
}
