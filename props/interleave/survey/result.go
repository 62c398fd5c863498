package survey

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"eventide/props/interleave/driver"
)

// A Result is what a survey found in one module.
type Result struct {
	Module, Version string
	Commit          string         // of the sources that the tool was built from
	Tests           int            // tests of packages that build
	Run             int            // tests of which schedules ended
	Schedules       uint64         // of all tests
	Seconds         float64        // with fetching and building
	Verdicts        map[string]int `json:",omitempty"` // distinct findings
	NotRun          map[string]int `json:",omitempty"` // tests, or packages that do not build, by reason
	Failing         int            `json:",omitempty"` // tests that fail without control too
	Findings        []Finding      `json:",omitempty"`
	Failed          string         `json:",omitempty"` // the run of the module itself
}

// A Finding is one finding of a test, and what reading it showed.
type Finding struct {
	Package, Test string
	Fails         bool `json:",omitempty"` // the test fails without control too
	driver.Finding
	Class string `json:",omitempty"` // module, test, ours or environment
	About string `json:",omitempty"`
}

// longestMessage bounds the message of a kept finding.
const longestMessage = 300

// read adds the reports of a file, which may end in the middle of a line.
func (r *Result) read(name string) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var report driver.Report
		if json.Unmarshal(lines.Bytes(), &report) == nil {
			r.add(&report)
		}
	}
	return lines.Err()
}

func (r *Result) add(report *driver.Report) {
	if r.NotRun == nil {
		r.NotRun, r.Verdicts = map[string]int{}, map[string]int{}
	}
	if report.Test != "" {
		r.Tests++
	}
	if report.Undecided != "" {
		r.NotRun[report.Undecided]++
	} else {
		r.Run++
	}
	fails := report.Plain == "failed" || report.Plain == "alone"
	if fails {
		r.Failing++
	}
	r.Schedules += report.Schedules
	for _, f := range report.Findings {
		r.Verdicts[f.Verdict]++
		if len(f.Message) > longestMessage {
			f.Message = strings.ToValidUTF8(f.Message[:longestMessage], "") + "..."
		}
		f.Replay = ""
		r.Findings = append(r.Findings, Finding{Package: report.Package, Test: report.Test, Fails: fails, Finding: f})
	}
}
