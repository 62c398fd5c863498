package peers

import (
	"fmt"
	"slices"
	"time"
)

// patience is how long any one answer may take.
const patience = 2 * time.Minute

// session is a run in progress.
type session struct {
	dir     string             // where build.sh has put the drivers
	drivers map[string]*Driver // by driver
	notRun  map[string]string  // by implementation: why not
	failed  map[string]error   // by workload and implementation: it is not asked again
	none    map[string]string  // likewise: what it does not have
	peak    float64            // of the yardstick: tasks per second
}

// open starts the drivers of impls.
func open(impls []Impl, dir string) *session {
	s := &session{
		dir: dir, drivers: map[string]*Driver{}, notRun: map[string]string{},
		failed: map[string]error{}, none: map[string]string{},
	}
	reasons := map[string]string{}
	for _, im := range impls {
		d := im.driver
		if s.drivers[d.name] == nil && reasons[d.name] == "" {
			driver, err := d.start(dir)
			if err != nil {
				reasons[d.name] = err.Error()
			} else {
				s.drivers[d.name] = driver
			}
		}
		if why := reasons[d.name]; why != "" {
			s.notRun[im.Name] = why
		}
	}
	return s
}

func (k driverKind) start(dir string) (*Driver, error) {
	command, err := k.command(dir)
	if err != nil {
		return nil, err
	}
	return StartDriver(k.name, command...)
}

func (s *session) close() {
	for _, d := range s.drivers {
		d.Close()
	}
}

// ask sends a request to the driver of im.
func (s *session) ask(im Impl, word string, pairs ...any) (Answer, error) {
	r := request(word, pairs...)
	if im.driver.name == goDriver.name {
		r.Args["impl"] = im.Name
	}
	return s.drivers[im.driver.name].Do(r, patience)
}

// versions asks everybody who they are.
func (s *session) versions(impls []Impl) map[string]string {
	versions := map[string]string{}
	for _, im := range impls {
		if s.notRun[im.Name] != "" {
			continue
		}
		a, err := s.ask(im, "about")
		if err != nil {
			s.notRun[im.Name] = err.Error()
			continue
		}
		versions[im.Name] = a.text["version"]
	}
	return versions
}

// peakSlices is how often the peak is measured; the median counts.
const peakSlices = 7

// yardstick is the implementation whose peak is the load of latencies.
var yardstick, _ = implNamed("channel")

// latency measures a steady load, after a warm-up. See rate.
func (s *session) latency(im Impl, load int) (Answer, error) {
	rate, a, err := s.rate(load)
	if rate == 0 {
		return a, err
	}
	n := int(rate * steadyTime.Seconds())
	return s.ask(im, "latency", "rate", int(rate), "warm", n/warmShare, "n", n)
}

// start measures the first milliseconds of the same load on a new executor.
func (s *session) start(im Impl, load int) (Answer, error) {
	rate, a, err := s.rate(load)
	if rate == 0 {
		return a, err
	}
	return s.ask(im, "latency", "rate", int(rate), "warm", 0, "n", max(startLeast, int(rate*startTime.Seconds())))
}

// rate returns a share, in percent, of the yardstick's peak, which is measured before
// the first time; or 0 and the yardstick's answer. The rate is the same for everybody:
// at a share of its own peak the fastest would be given the most to do, and be the
// slower for it.
func (s *session) rate(load int) (float64, Answer, error) {
	if s.peak == 0 {
		var rates []float64
		for range peakSlices {
			a, err := s.ask(yardstick, "peak", "n", executeTasks)
			if err != nil || a.None != "" {
				return 0, a, err
			}
			rates = append(rates, float64(a.Ops)/time.Duration(a.Elapsed).Seconds())
		}
		slices.Sort(rates)
		s.peak = rates[peakSlices/2]
	}
	return s.peak * float64(load) / 100, Answer{}, nil
}

// backlog asks a driver of its own if im hoards.
func (s *session) backlog(im Impl, tasks int) (Answer, error) {
	use := asked("backlog", "tasks", tasks)
	if im.hoards {
		return s.fresh(im, func(alone *session) (Answer, error) { return use(alone, im) })
	}
	return use(s, im)
}

// fresh lets use ask a driver of im's kind that nobody has asked anything.
func (s *session) fresh(im Impl, use func(alone *session) (Answer, error)) (Answer, error) {
	d, err := im.driver.start(s.dir)
	if err != nil {
		return Answer{}, fmt.Errorf("a second %s: %w", im.driver.name, err)
	}
	defer d.Close()
	return use(&session{drivers: map[string]*Driver{im.driver.name: d}})
}

// slice is one measurement, for the record.
func (s *session) slice(w Workload, im Impl) (Answer, error) {
	key := w.Name + " " + im.Name
	if err := s.failed[key]; err != nil {
		return Answer{}, err
	}
	if why := s.none[key]; why != "" {
		return Answer{None: why}, nil
	}
	a, err := w.run(s, im)
	if err == nil && a.None == "" && a.Ops == 0 && len(a.Samples) == 0 {
		err = fmt.Errorf("an answer without a measurement")
	}
	if err != nil {
		s.failed[key] = err
	}
	s.none[key] = a.None
	return a, err
}
