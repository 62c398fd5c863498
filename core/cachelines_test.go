package core

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"eventide/core/internal/tasks"
)

// cacheLine is the size of a cache line of the processors that the layout is made for.
const cacheLine = 64

// offsetOf returns where a field lies in a struct, by its path.
func offsetOf(t *testing.T, in reflect.Type, path string) uintptr {
	t.Helper()
	var offset uintptr
	for name := range strings.SplitSeq(path, ".") {
		f, ok := in.FieldByName(name)
		if !ok {
			t.Fatalf("%v has no field %s of %s", in, name, path)
		}
		for i := range f.Index { // through embedded structs
			one := in.FieldByIndex(f.Index[:i+1])
			offset += one.Offset
		}
		in = f.Type
	}
	return offset
}

// TestExecuteWritesFewCacheLines: besides the slot, a call of Execute that wakes nobody writes one
// cache line, that of the mutex, and at the few backlogs that it checks also that of the watch. Each line more moves
// between the processors of two producers for each task (docs/performance.md, More
// processors). The loop writes none of them for each task, and producers none that State
// and InEventLoop read.
func TestExecuteWritesFewCacheLines(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Log("the layout is made for 64 bits")
		return
	}
	executor := reflect.TypeFor[Executor]()
	lines := func(paths ...string) []uintptr {
		var all []uintptr
		for _, path := range paths {
			all = append(all, offsetOf(t, executor, path)/cacheLine)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	if executor.Size()%cacheLine != 0 && executor.Size() <= 1024 {
		t.Fatalf("an Executor has %d bytes: the allocator does not align it to %d", executor.Size(), cacheLine)
	}
	callers := lines("mu", "gate", "asleep", "queued", "tasks.tail", "tasks.size", "tasks.accepted")
	loop := lines("tasks.pos", "tasks.batchProgress", "tasks.progress", "step", "current")
	readers := lines("state", "owner", "fastLimit")
	watch := lines("watch.progress", "watch.since", "watch.rests", "outside")
	t.Logf("lines: callers %v, and now and then %v, loop %v, readers %v", callers, watch, loop, readers)
	if len(callers) != 1 {
		t.Errorf("Execute writes %d cache lines of the Executor, want 1", len(callers))
	}
	for _, line := range slices.Concat(callers, watch) {
		if slices.Contains(loop, line) || slices.Contains(readers, line) {
			t.Errorf("line %d is written by callers, and by the loop for each task or read by State", line)
		}
	}
	if tasks.SegmentSize%(cacheLine/8) != 0 {
		t.Errorf("a segment has %d slots, want whole cache lines", tasks.SegmentSize)
	}
}
