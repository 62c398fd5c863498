package runner

import (
	"sync"
	"time"
)

// compilers are the names of processes that build a program.
var compilers = map[string]bool{"go": true, "compile": true, "asm": true, "cgo": true, "link": true}

// killAfter kills a process and its descendants when it has run for so long, without the
// time in which a descendant built a program. It returns what ends the supervision and
// reports whether the process was killed.
func killAfter(pid int, limit time.Duration) (stop func() bool) {
	often := min(limit, 250*time.Millisecond)
	done, killed := make(chan struct{}), false
	var supervision sync.WaitGroup
	supervision.Go(func() {
		ticks := time.NewTicker(often)
		defer ticks.Stop()
		for left, last := limit, time.Now(); left > 0; {
			select {
			case <-done:
				return
			case <-ticks.C:
				now := time.Now()
				if !builds(pid) {
					left -= now.Sub(last)
				}
				last = now
			}
		}
		killed = true
		killTree(pid)
	})
	return sync.OnceValue(func() bool {
		close(done)
		supervision.Wait()
		return killed
	})
}

func builds(pid int) bool {
	for _, name := range descendants(pid) {
		if compilers[name] {
			return true
		}
	}
	return false
}
