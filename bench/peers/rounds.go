package peers

import (
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"time"
)

// MinRounds is the least number of rounds: with fewer there is no 95 % confidence
// interval worth the name.
const MinRounds = 10

// Options say what is measured, and for how long.
type Options struct {
	Rounds  int
	Seed    uint64         // of the orders
	Run     *regexp.Regexp // which workloads
	Dir     string         // where build.sh has put the drivers
	Warm    time.Duration  // how long each workload is repeated by Netty before the first round
	Raw     io.Writer      // gets the raw samples
	Log     io.Writer      // hears of the progress
	About   RawHeader      // completed by Measure
	Measure []Impl         // nil: all
}

// Measure runs the workloads and returns the recording.
func Measure(o Options) (Recording, error) {
	if o.Rounds < MinRounds {
		return Recording{}, fmt.Errorf("peers: %d rounds, want at least %d", o.Rounds, MinRounds)
	}
	if o.Measure == nil {
		o.Measure = Impls
	}
	s := open(o.Measure, o.Dir)
	defer s.close()
	about := o.About
	about.Schema, about.Rounds, about.Seed = 1, o.Rounds, o.Seed
	about.Versions = s.versions(o.Measure)
	about.NotRun = s.notRun
	rec := Recording{Header: about}
	raw := newRawWriter(o.Raw)
	raw.header(about)
	run := func(round int, w Workload, im Impl) {
		if s.notRun[im.Name] != "" {
			return
		}
		a, err := s.slice(w, im)
		slice := Slice{Round: round, Workload: w.Name, Impl: im.Name, Answer: a}
		if err != nil {
			slice.Error = err.Error()
		}
		if round >= 0 {
			rec.Slices = append(rec.Slices, slice)
			raw.slice(slice)
		}
	}
	var workloads []Workload
	for _, w := range Workloads() {
		if o.Run == nil || o.Run.MatchString(w.Name) {
			workloads = append(workloads, w)
		}
	}
	if len(workloads) == 0 {
		return Recording{}, fmt.Errorf("peers: no workload matches %v", o.Run)
	}
	for _, w := range workloads {
		fmt.Fprintf(o.Log, "warming up: %s\n", w.Name)
		for _, im := range o.Measure {
			run(-1, w, im)
			jvm := im.driver.name == nettyNIO.name || im.driver.name == nettyDefault.name
			for began := time.Now(); jvm && w.warm && time.Since(began) < o.Warm; {
				run(-1, w, im)
			}
		}
	}
	random := rand.New(rand.NewPCG(o.Seed, 0))
	for round := range o.Rounds {
		fmt.Fprintf(o.Log, "round %d of %d\n", round+1, o.Rounds)
		for _, w := range workloads {
			for _, i := range random.Perm(len(o.Measure)) {
				run(round, w, o.Measure[i])
			}
		}
	}
	return rec, raw.err
}
