package driver

import (
	"errors"
	"time"
)

// A Report is the result of one test, for programs that read it. A package that was not
// explored has one report, without a test.
type Report struct {
	Package   string
	Test      string `json:",omitempty"`
	Plain     string `json:",omitempty"` // what the run without control showed: passed, skipped, failed, alone (failed when run alone), once or unknown
	Schedules uint64 `json:",omitempty"`
	Undecided string `json:",omitempty"` // why the search shows nothing
	// Uncontrolled counts what the scheduler did not control, with the first place of each.
	Uncontrolled string        `json:",omitempty"`
	Took         time.Duration // with minimising
	Findings     []Finding     `json:",omitempty"`
	Text         string        `json:",omitempty"` // as printed
}

// A Finding is one distinct finding of a Report.
type Finding struct {
	Verdict    string
	Message    string
	Schedule   uint64        // that showed it first
	Times      int           // schedules that showed it
	Switches   int           // of the minimal schedule; -1 if it is not minimal
	Before     int           // switches before minimising; 0 if they were too many to be listed
	Minimising time.Duration // how long it took
	Processor  time.Duration `json:",omitempty"` // time of processors for that, which other load on the machine does not lengthen
	Repeats    string        // minimal, seed, prefix or not: how it repeats in a fresh process
	Timing     bool          `json:",omitempty"` // a timer has to expire while a goroutine can run
	Replay     string        `json:",omitempty"` // name of the replay file
}

func (s plainState) String() string {
	return [...]string{plainPassed: "passed", plainSkipped: "skipped", plainFailed: "failed", plainOnce: "once", plainUnknown: "unknown"}[s]
}

func (s repeatState) String() string {
	return [...]string{repeatsMinimal: "minimal", repeatsBySeed: "seed", repeatsUntried: "untried", repeatsByPrefix: "prefix", repeatsNot: "not"}[s]
}

// report calls Options.Report with the result of a search. Calls do not overlap.
func (s *session) report(r *pkgRun, x *search, state plainState, out *testResult) {
	if s.opts.Report == nil {
		return
	}
	report := Report{Package: r.ImportPath, Test: out.name, Plain: state.String(), Schedules: x.covered.Schedules, Took: out.took, Text: out.text}
	if x.alone != "" && state != plainFailed {
		report.Plain = "alone"
	}
	report.Uncontrolled = x.covered.uncontrolled(x.pkg)
	for _, f := range x.found {
		report.Findings = append(report.Findings, f.report())
	}
	if x.undecided() {
		report.Undecided = x.why()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.Report(report)
}

func (f *found) report() Finding {
	if f.kept != nil {
		one := f.kept.Finding
		one.Times = f.times
		return one
	}
	one := Finding{Verdict: f.cause.Verdict, Message: f.cause.Message, Schedule: f.first.Number, Times: f.times, Switches: -1, Before: f.original, Minimising: f.minimising, Processor: f.cpu,
		Repeats: f.state.String(), Timing: f.timing, Replay: f.file}
	if f.state == repeatsMinimal {
		one.Switches = len(f.repeat.Switches)
	}
	return one
}

// why says in a word or two why a search shows nothing.
func (s *search) why() string {
	switch c := &s.covered; {
	case c.Waited != "":
		return c.Waited
	case s.stopped != "":
		return s.stopped
	case c.Horizon > 0:
		return "virtual time ran out while the test waited"
	case c.TooLarge > 0:
		return stoppedBySize
	}
	return stoppedByBudget
}

// reportPackage calls Options.Report with a package that was not explored.
func (s *session) reportPackage(r *pkgRun) {
	if s.opts.Report == nil || r.failed == nil {
		return
	}
	why := "cannot be listed"
	switch {
	case errors.Is(r.failed, errEnded):
		why = r.failed.Error()
	case errors.Is(r.failed, errBuild):
		why = "does not build"
	case errors.Is(r.failed, errCgo):
		why = "cgo"
	}
	s.opts.Report(Report{Package: r.ImportPath, Undecided: why, Text: r.failed.Error()})
}
