package interleave

import (
	"fmt"
	"os"

	"eventide/props"
	"eventide/props/interleave/inprocess"
	"eventide/props/internal/runner"
)

// caseVersion is the version of the format of case files.
const caseVersion = 2

// Case is a failing schedule as a file: the program, how its clock moves, and the
// switches, each with its source line.
type Case struct {
	Version   int                `json:"version"`
	Guarantee string             `json:"guarantee"`
	Text      string             `json:"text"`
	Time      string             `json:"time"`
	Scenario  Scenario           `json:"scenario"`
	Switches  []inprocess.Switch `json:"switches"`
}

// NewCase returns the case of a failure.
func NewCase(f *Found) Case {
	return Case{
		Version: caseVersion, Guarantee: f.Violation.Guarantee, Text: f.Violation.Text,
		Time: f.Scenario.Time.String(), Scenario: f.Scenario, Switches: f.Switches,
	}
}

// Save writes the case to dir, under a name made of the guarantee and a hash, and
// returns the path.
func (c Case) Save(dir string) (string, error) {
	return runner.WriteCase(dir, c.Guarantee, ".schedule", c, c)
}

// LoadCase reads a case file.
func LoadCase(path string) (Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Case{}, err
	}
	c, err := runner.DecodeCase(path, data, caseVersion, func(c Case) int { return c.Version })
	if err != nil {
		return Case{}, fmt.Errorf("interleave: %w", err)
	}
	return c, nil
}

// Ending is the outcome of a replay.
type Ending int

// The endings.
const (
	Reproduced    Ending = iota
	NotReproduced        // the same switches break no guarantee
	NoLonger             // the program does not reach the places of the switches
)

func (e Ending) String() string {
	return [...]string{"reproduced", "not reproduced", "no longer applies"}[e]
}

// Replay runs the case once.
func (c Case) Replay() (Ending, *Found) {
	x := NewExplorer()
	f, st := x.again(c.Scenario, c.Switches, c.Guarantee, true)
	if f != nil {
		return Reproduced, f
	}
	if st.Unused() > 0 || !c.sameSites(x) {
		return NoLonger, nil
	}
	return NotReproduced, nil
}

// sameSites reports whether each switch happens on the source line that the case has.
func (c Case) sameSites(x *Explorer) bool {
	st := newReplay(c.Switches)
	r, _ := x.run(c.Scenario, st, true)
	if len(r.Switches) != len(c.Switches) {
		return false
	}
	for i, s := range r.Switches {
		if s.Site != c.Switches[i].Site {
			return false
		}
	}
	return true
}

func (s settings) replayCase() int {
	c, err := LoadCase(s.replay)
	if err != nil {
		fmt.Fprintln(s.out, NoLonger.String()+":", err)
		return exitNoLonger
	}
	ending, f := c.Replay()
	fmt.Fprintf(s.out, "%v: %s\n", ending, s.replay)
	switch ending {
	case NotReproduced:
		return exitNotReproduced
	case NoLonger:
		return exitNoLonger
	}
	f.Write(s.out, "go run ./props/lanes/interleave/cmd/interleave -case "+props.ShellWord(s.replay))
	return exitClean
}
