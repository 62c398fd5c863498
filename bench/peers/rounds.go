package peers

import (
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"time"
)

// MinRounds is the least number of rounds that targets are judged by: with fewer there
// is no 95 % confidence interval worth the name. A run of fewer is a trial.
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
	if o.Rounds < 1 {
		return Recording{}, fmt.Errorf("peers: %d rounds, want at least 1", o.Rounds)
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
	r := rounds{Options: o, raw: newRawWriter(o.Raw), tooMany: map[string]string{}, took: map[string]time.Duration{}}
	r.allow(workloads)
	s := open(o.Measure, o.Dir)
	defer s.close()
	r.session = s
	r.rec.Header = o.About
	h := &r.rec.Header
	h.Schema, h.Rounds, h.Seed = 1, o.Rounds, o.Seed
	h.Versions, h.NotRun = s.versions(o.Measure), s.notRun
	r.raw.header(*h)
	r.warmUp(workloads)
	fmt.Fprintf(o.Log, "one round takes %v, and all %d together %v\n", r.perRound(), o.Rounds, time.Duration(o.Rounds)*r.perRound())
	random := rand.New(rand.NewPCG(o.Seed, 0))
	for round := range o.Rounds {
		fmt.Fprintf(o.Log, "round %d of %d, %v to go\n", round+1, o.Rounds, time.Duration(o.Rounds-round)*r.perRound())
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
	tooMany map[string]string        // by workload: why it needs more descriptors than there are
	took    map[string]time.Duration // by workload and implementation: the last slice
}

// allow gets the descriptors that the workloads need, before the drivers start: they
// inherit the limit.
func (r *rounds) allow(workloads []Workload) {
	for _, w := range workloads {
		if err := allowDescriptors(w.descriptors()); err != nil {
			r.tooMany[w.Name] = err.Error()
			fmt.Fprintf(r.Log, "NOT RUN: %s: %v\n", w.Name, err)
		}
	}
}

// perRound is how long a round takes, by what its slices took last.
func (r *rounds) perRound() time.Duration {
	var all time.Duration
	for _, d := range r.took {
		all += d
	}
	return all.Round(100 * time.Millisecond)
}

// warmingUp is the round that is not recorded.
const warmingUp = -1

// warmUp runs every workload once, and for a compiler's sake some of Netty's again and
// again.
func (r *rounds) warmUp(workloads []Workload) {
	fmt.Fprintf(r.Log, "warming up takes %v and one round\n", r.warmTime(workloads))
	for _, w := range workloads {
		fmt.Fprintf(r.Log, "warming up: %s\n", w.Name)
		for _, im := range r.Measure {
			r.run(warmingUp, w, im)
			for began := time.Now(); r.repeats(w, im) && time.Since(began) < r.Warm; {
				r.run(warmingUp, w, im)
			}
		}
	}
}

// repeats is whether im has a compiler to be warmed for w.
func (r *rounds) repeats(w Workload, im Impl) bool {
	jvm := im.driver.name == nettyNIO.name || im.driver.name == nettyDefault.name
	return jvm && w.warm && r.session.notRun[im.Name] == ""
}

// warmTime is how long the repetitions take.
func (r *rounds) warmTime(workloads []Workload) time.Duration {
	var all time.Duration
	for _, w := range workloads {
		for _, im := range r.Measure {
			if r.repeats(w, im) {
				all += r.Warm
			}
		}
	}
	return all
}

// run measures one slice and records it.
func (r *rounds) run(round int, w Workload, im Impl) {
	if r.session.notRun[im.Name] != "" || !im.asks(w) {
		return
	}
	began := time.Now()
	a, err := r.measure(w, im)
	took := time.Since(began)
	r.took[w.Name+" "+im.Name] = took
	if round == warmingUp {
		return
	}
	s := Slice{Round: round, Workload: w.Name, Impl: im.Name, Took: int64(took), Answer: a}
	if err != nil {
		s.Error = err.Error()
	}
	r.rec.Slices = append(r.rec.Slices, s)
	r.raw.slice(s)
}

func (r *rounds) measure(w Workload, im Impl) (Answer, error) {
	if why := r.tooMany[w.Name]; why != "" {
		return Answer{NotRun: why}, nil
	}
	return r.session.slice(w, im)
}
