//go:build linux

package exits

import (
	"syscall"
	"time"
)

// Program describes a plan and what happens to it. Times are milliseconds of virtual time; those
// of events count from the call of Run. Each has an offset of its own below a millisecond, so that
// no two things happen at the same time.
type Program struct {
	Start       *Start  // Plan.Start; nil: none
	Starts      []Start // Plan.Starts, if there is no Start
	NotReady    int     // how long it takes; -1: none
	NotReadyEnd string
	PreDrain    int
	Deadline    int
	Steps       []Step
	Signals     int    // index of signalSets
	Sent        []Sent // in the order of their times
	Cancel      int    // when the context of Run ends; -1: never
	StuckAfter  int
	Probes      []int
	Manager     Manager
	Logger      string // "", "panics", "exits" or "blocks"
	Inherited   Inherited
	BadPlan     int  // index of a mistake, or -1
	IgnoresPipe bool // the process was started with SIGPIPE ignored
}

// Start is a function of Plan.Start or of Plan.Starts.
type Start struct {
	Takes int
	Heeds bool   // it returns when its context ends
	Ready int    // when it calls Ready; -1: never
	End   string // how it ends by itself
	Ended string // what it returns when its context has ended: "cause", "canceled", "joined", "both", "alike", or as End
}

// Step is a step of the plan.
type Step struct {
	Kind  string // run, graceful, http, executor, group or own
	Takes int
	Heeds bool
	End   string

	Deadline, Quiet, Timeout, Drain int
	Tasks, Length                   int // of each executor, from the begin
	Figures                         Figures
	Server                          Server // of kind http
}

// The ways in which a function ends.
const (
	endsWell   = ""
	endsFailed = "error"
	endsPanic  = "panic"
	endsGoexit = "goexit"
)

// Sent is a signal.
type Sent struct {
	At     int
	Signal syscall.Signal
}

// Manager is a service manager with systemd's protocol.
type Manager struct {
	Address  string // NOTIFY_SOCKET; "": there is none
	Broken   bool   // nobody listens
	Unset    bool   // if so: it listens, and no deadline can be set
	Watchdog int    // WATCHDOG_USEC in milliseconds; 0: none
	Pid      string // WATCHDOG_PID: "", "own" or "other"
}

// signalSets are the values of Plan.Signals.
var signalSets = [][]syscall.Signal{nil, {syscall.SIGUSR1, syscall.SIGTERM}, {}}

// wanted reports whether a signal reaches the plan.
func (p *Program) wanted(s syscall.Signal) bool {
	set := signalSets[p.Signals]
	if set == nil {
		set = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
	}
	for _, one := range set {
		if one == s {
			return true
		}
	}
	return false
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// The offsets of the times of a program.
func signalAt(p *Program, i int) time.Duration { return ms(p.Sent[i].At) + time.Duration(311+i) }
func cancelAt(p *Program) time.Duration {
	if p.Cancel < 0 {
		return never
	}
	return ms(p.Cancel) + min(ms(p.Cancel), 503)
}
func probeAt(p *Program, i int) time.Duration { return ms(p.Probes[i]) + time.Duration(7013+i) }
func (s *Start) takes(i int) time.Duration    { return ms(s.Takes) + time.Duration(11*i+17) }
func (s *Start) readyAt(i int) time.Duration  { return ms(s.Ready) + time.Duration(13*i+29) }
func (s *Step) takes(i int) time.Duration     { return ms(s.Takes) + time.Duration(1009*i+211) }
func (s *Step) length(i int) time.Duration    { return ms(s.Length) + time.Duration(97*i+41) }
func (s *Step) deadline() time.Duration { // no quiet period or timeout is as long
	if s.Deadline == 0 {
		return 0
	}
	return ms(s.Deadline) + 5003
}
func (p *Program) deadline() time.Duration {
	if p.Deadline == 0 {
		return 0
	}
	return ms(p.Deadline) + 9001
}
func (p *Program) preDrain() time.Duration {
	if p.PreDrain == 0 {
		return 0
	}
	return ms(p.PreDrain) + 3001
}
func (p *Program) notReadyTakes() time.Duration { return ms(p.NotReady) + 149 }
