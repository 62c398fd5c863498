package runner

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// KillAbove kills a process as soon as its resident memory is more than most bytes, and
// returns what ends the supervision and reports whether the process was killed. A program
// with a mutant in it may allocate for ever, and the machine is shared. Where the system
// has no /proc nothing is supervised.
func KillAbove(p *os.Process, most int64) (stop func() bool) {
	const often = 100 * time.Millisecond
	done, killed := make(chan struct{}), false
	var supervision sync.WaitGroup
	supervision.Go(func() {
		ticks := time.NewTicker(often)
		defer ticks.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticks.C:
				if resident(p.Pid) > most {
					killed = p.Kill() == nil
					return
				}
			}
		}
	})
	return sync.OnceValue(func() bool {
		close(done)
		supervision.Wait()
		return killed
	})
}

// resident is how many bytes of memory a process has, or 0 if that is not known.
func resident(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
