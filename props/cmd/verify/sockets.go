package main

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"

	"eventide/props/lane"
	"eventide/props/lanes/sockets/shadow"
)

// shadowReport is what a lane of package shadow did: generated programs over a model. It has one
// verdict, because its judge checks several guarantees in each program.
type shadowReport struct {
	Verdict  string  `json:"verdict"`
	Reason   string  `json:"reason,omitempty"` // of a verdict that is not pass
	Programs int     `json:"programs"`
	Seconds  float64 `json:"seconds"`
	Seed     uint64  `json:"seed"`
}

// shadowMinimum is how many programs must have run for a verdict.
const shadowMinimum = 100

// programsOf says what the programs of a lane are.
var programsOf = map[string]string{
	"sockets":  "programs of connections, peers and shutdowns over a model of the kernel",
	"blocking": "programs of core/blocking over the same model",
	"exits":    "plans of core/process, compared with a specification",
}

func shadowOf(r lane.Result) shadowReport {
	s := shadowReport{Verdict: pass, Programs: r.Runs, Seconds: r.Seconds, Seed: r.Seed}
	for _, text := range r.Failed {
		s.Verdict, s.Reason = fail, text
		return s
	}
	if r.Runs < shadowMinimum {
		s.Verdict, s.Reason = notRun, fmt.Sprintf("%d programs have run, want %d", r.Runs, shadowMinimum)
	}
	return s
}

// runShadows builds the lanes of package shadow, which are programs of their own, and runs them one
// after another.
func (v *verification) runShadows() error {
	if runtime.GOOS != "linux" {
		return nil // the verdict is "not run"
	}
	v.shadows = map[string]lane.Result{}
	total := 0
	for _, l := range shadow.Lanes {
		bin, err := shadow.Binary{Root: v.root, Dir: filepath.Join(v.out, l.Name)}.Build(l)
		if err != nil {
			return fmt.Errorf("the %s lane: %w", l.Name, err)
		}
		share := v.budget / 4
		if l.Name == "sockets" {
			share = v.budget / 2
		}
		r, err := v.complete("the "+l.Name+" lane: ", lane.Run{Bin: bin, Lane: l.Test, Budget: share, Cases: filepath.Join(v.out, "cases"), Hear: func(r lane.Result) {
			v.live.set(func(live *live) { live.shadows = total + r.Runs })
		}})
		if err != nil {
			return err
		}
		total += r.Runs
		v.shadows[l.Name] = r
	}
	return nil
}

// print prints the verdict. A report of an older version has none.
func (s shadowReport) print(w io.Writer, name string) {
	switch s.Verdict {
	case pass:
		fmt.Fprintf(w, "%-8s %d %s, in %.0f s, pass\n", name, s.Programs, programsOf[name], s.Seconds)
	case fail:
		fmt.Fprintf(w, "%-8s FAIL after %d programs: %s\n", name, s.Programs, firstLine(s.Reason))
	default:
		fmt.Fprintf(w, "%-8s NOT RUN %s\n", name, s.Reason)
	}
}
