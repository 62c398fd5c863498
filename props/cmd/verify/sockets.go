package main

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"eventide/props/lane"
	"eventide/props/lanes/sockets/shadow"
)

// socketsReport is what the sockets lane did: programs of connections on core/tcp, over a model
// of the kernel. It has one verdict, because its judge checks several guarantees in each program.
type socketsReport struct {
	Verdict  string  `json:"verdict"`
	Reason   string  `json:"reason,omitempty"` // of a verdict that is not pass
	Programs int     `json:"programs"`
	Seconds  float64 `json:"seconds"`
	Seed     uint64  `json:"seed"`
}

// socketsMinimum is how many programs must have run for a verdict.
const socketsMinimum = 100

func socketsOf(r lane.Result) socketsReport {
	s := socketsReport{Verdict: pass, Programs: r.Runs, Seconds: r.Seconds, Seed: r.Seed}
	for _, text := range r.Failed {
		s.Verdict, s.Reason = fail, text
		return s
	}
	if r.Runs < socketsMinimum {
		s.Verdict, s.Reason = notRun, fmt.Sprintf("%d programs have run, want %d", r.Runs, socketsMinimum)
	}
	return s
}

// runSockets builds the sockets lane, which is a program of its own, and runs it.
func (v *verification) runSockets() error {
	if runtime.GOOS != "linux" {
		return nil // the verdict is "not run"
	}
	bin, err := shadow.Lane{Root: v.root, Dir: filepath.Join(v.out, "sockets")}.Build()
	if err != nil {
		return fmt.Errorf("the sockets lane: %w", err)
	}
	v.sockets, err = lane.Run{Bin: bin, Budget: v.budget / 2, Seed: v.seed, Cases: filepath.Join(v.out, "cases"), Hear: func(r lane.Result) {
		v.live.set(func(l *live) { l.sockets = r.Runs })
	}}.Do(v.root)
	if err == nil {
		err = cameToItsEnd(v.sockets)
	}
	if err != nil {
		return fmt.Errorf("the sockets lane: %w", err)
	}
	return nil
}

// print prints the verdict. A report of an older version has none.
func (s socketsReport) print(w io.Writer) {
	switch s.Verdict {
	case pass:
		fmt.Fprintf(w, "sockets  %d programs of connections, peers and shutdowns over a model of the kernel, in %.0f s, pass\n", s.Programs, s.Seconds)
	case fail:
		fmt.Fprintf(w, "sockets  FAIL after %d programs of connections\n", s.Programs)
		fmt.Fprintf(w, "         %s\n", strings.ReplaceAll(s.Reason, "\n", "\n         "))
		fmt.Fprintf(w, "         the program is in out/cases: go run ./props/lanes/sockets/cmd/sockets -case out/cases/sockets-....json\n")
	default:
		fmt.Fprintf(w, "sockets  NOT RUN %s\n", s.Reason)
	}
}
