package peers

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// memoryNow collects the garbage, gives back what is free, and says what is left.
func memoryNow() (Answer, error) {
	runtime.GC() // finishes what the last one has left to sweep
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	resident, err := residentBytes()
	return Answer{Resident: resident, Heap: int64(m.HeapAlloc), Stack: int64(m.StackInuse)}, err
}

// residentBytes is the resident set of this process, as Linux counts it.
func residentBytes() (int64, error) {
	const file = "/proc/self/statm"
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("peers: %s is %q, want the resident pages second", file, text)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
