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
	var workloads []Workload
	for _, w := range Workloads() {
		if o.Run == nil || o.Run.MatchString(w.Name) {
			workloads = append(workloads, w)
		}
	}
	if len(workloads) == 0 {
		return Recording{}, fmt.Errorf("peers: no workload matches %v", o.Run)
	}
	if o.Measure == nil {
		o.Measure = Impls
	}
	s := open(o.Measure, o.Dir)
	defer s.close()
	r := rounds{Options: o, session: s, raw: newRawWriter(o.Raw)}
	r.rec.Header = o.About
	h := &r.rec.Header
	h.Schema, h.Rounds, h.Seed = 1, o.Rounds, o.Seed
	h.Versions, h.NotRun = s.versions(o.Measure), s.notRun
	r.raw.header(*h)
	r.warmUp(workloads)
	random := rand.New(rand.NewPCG(o.Seed, 0))
	for round := range o.Rounds {
		fmt.Fprintf(o.Log, "round %d of %d\n", round+1, o.Rounds)
		for _, w := range workloads {
			for _, i := range random.Perm(len(o.Measure)) {
				r.run(round, w, o.Measure[i])
			}
		}
	}
	return r.rec, r.raw.err
}

// rounds is Measure in progress.
type rounds struct {
	Options
	session *session
	rec     Recording
	raw     *rawWriter
}

// warmingUp is the round that is not recorded.
const warmingUp = -1

// warmUp runs every workload once, and for a compiler's sake some of Netty's again and
// again.
func (r *rounds) warmUp(workloads []Workload) {
	for _, w := range workloads {
		fmt.Fprintf(r.Log, "warming up: %s\n", w.Name)
		for _, im := range r.Measure {
			r.run(warmingUp, w, im)
			jvm := im.driver.name == nettyNIO.name || im.driver.name == nettyDefault.name
			for began := time.Now(); jvm && w.warm && time.Since(began) < r.Warm; {
				r.run(warmingUp, w, im)
			}
		}
	}
}

// run measures one slice and records it.
func (r *rounds) run(round int, w Workload, im Impl) {
	if r.session.notRun[im.Name] != "" {
		return
	}
	began := time.Now()
	a, err := r.session.slice(w, im)
	if round == warmingUp {
		return
	}
	s := Slice{Round: round, Workload: w.Name, Impl: im.Name, Took: int64(time.Since(began)), Answer: a}
	if err != nil {
		s.Error = err.Error()
	}
	r.rec.Slices = append(r.rec.Slices, s)
	r.raw.slice(s)
}
