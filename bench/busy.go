package bench

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
)

// busyProducers are the numbers of producers beside busy processes.
var busyProducers = []int{1, 4}

// busyCases are those of Execute on a busy machine: beside as many processes that compute as Go
// uses processors. An executor that gives its thread up too often loses a time slice each time.
func busyCases(producers int) Group {
	g := executeCases(producers)
	for i, c := range g {
		g[i].Workload = fmt.Sprintf("ExecuteBusy/producers=%d", producers)
		g[i].Open = func() (Runner, error) {
			r, err := c.Open()
			if err != nil {
				return nil, err
			}
			return besideOthers{r}, nil
		}
	}
	return g
}

// besideOthers runs slices while other processes compute.
type besideOthers struct{ Runner }

func (b besideOthers) Run(n int) (s Slice, err error) {
	for range runtime.GOMAXPROCS(0) {
		other := exec.Command("sh", "-c", "while :; do :; done")
		if err := other.Start(); err != nil {
			return Slice{}, fmt.Errorf("bench: a process that computes: %w", err)
		}
		defer func() {
			err = errors.Join(err, other.Process.Kill())
			_ = other.Wait() // it was killed
		}()
	}
	return b.Runner.Run(n)
}
