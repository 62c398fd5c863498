// Package protocol defines the messages between a driver of interleave and a
// controlled process: a test binary that was built with package overlay.
//
// The driver sends one Request in the environment variable INTERLEAVE when it starts
// the process. The process answers with records. A record is one line of text on the
// descriptor that the request names, so standard output and standard error stay the
// test's own.
//
// The text that package overlay adds to package runtime implements the other side. The
// keys and the records are described at the fields of the types of this package.
package protocol

// Version is the version of the protocol. A process that reads another one answers
// with an error record and exits with ExitRequest.
const Version = 1

// Env is the environment variable that holds the request. The controlled process
// removes it from the environment of its children.
const Env = "INTERLEAVE"

// EnvPlain is the environment variable that a driver sets for a run without control of a
// binary that is built for control, to tell it from a run by mistake.
const EnvPlain = "INTERLEAVE_PLAIN"

// Exit codes of a controlled process beyond those of package testing: 0 for success,
// 1 for a failed test, 2 for a panic.
const (
	// ExitFinding means that the engine ended the process after a finding record.
	ExitFinding = 70
	// ExitRequest means that the request was not understood. An error record says why.
	ExitRequest = 71
)

// Strategies of a Request.
const (
	StrategyMix      = "mix"      // all of the following but dfs and replay, in turn
	StrategyWalk     = "walk"     // each runnable goroutine with the same chance
	StrategyPCT2     = "pct2"     // probabilistic concurrency testing, depth 2
	StrategyPCT3     = "pct3"     // the same, depth 3
	StrategyPCT4     = "pct4"     // the same, depth 4
	StrategyPCT5     = "pct5"     // the same, depth 5
	StrategyPOS      = "pos"      // partial order sampling
	StrategySURW     = "surw"     // selectively uniform random walk
	StrategyFeedback = "feedback" // mutates schedules that reached a new class
	StrategySticky   = "sticky"   // stays, but for one decision in eight
	StrategyDFS      = "dfs"      // every schedule up to Request.Bound preemptions
	StrategyFew      = "few"      // the default, but for one to eight decisions; for the driver's minimiser
	StrategyReplay   = "replay"   // Request.Switches, and the default everywhere else
)

// Values of Request.Time.
const (
	// TimeIdle moves the clock only when no goroutine can run. Each operation costs a
	// little virtual time.
	TimeIdle = "idle"
	// TimeMixed also lets timers expire early, by Request.Slack at most, in half of
	// the schedules.
	TimeMixed = "mixed"
	// TimeEarly is TimeMixed for every schedule.
	TimeEarly = "early"
)

// Values of Request.Net.
const (
	// NetMemory serves the host's own addresses in memory: TCP and UDP on loopback,
	// and stream sockets of the unix domain.
	NetMemory = "memory"
	// NetReal leaves all sockets to the kernel. Waits for them are not controlled.
	NetReal = "real"
)

// Values of Request.Faults. Each occasion has one with a chance of 1/16.
const (
	FaultShort    = "short"    // a read or a write of a connection moves one byte
	FaultReset    = "reset"    // a connection over TCP is reset
	FaultSlow     = "slow"     // a connection has buffers of 64 bytes
	FaultFiles    = "files"    // accept and dial fail: too many open files
	FaultContexts = "contexts" // the deadline of a new context has passed
	FaultCancels  = "cancels"  // a context is cancelled when somebody asks Done or Err
)

// Verdicts of a schedule.
const (
	Passed          = "passed"
	Failed          = "failed"           // the test failed
	Panicked        = "panicked"         // the process died of a panic or a fatal error
	Exited          = "exited"           // the program called os.Exit with a code other than 0
	Deadlock        = "deadlock"         // the test waits, no goroutine can run and no timer is left
	PartialDeadlock = "partial-deadlock" // goroutines wait for ever while others go on
	Leak            = "leak"             // the test returned, and goroutines that it started still wait a minute later
	Livelock        = "livelock"         // goroutines run for ever without an end, under a fair schedule
	Starvation      = "starvation"       // as livelock, while a goroutine waits for a mutex or an RWMutex
	Race            = "race"             // the race detector reported a data race
	LateFailure     = "late-failure"     // the test failed or panicked after it had returned
	Horizon         = "horizon"          // virtual time ran out while the test waits: inconclusive
	TooLarge        = "too-large"        // no schedule of the test fits into Request.Steps: inconclusive
)

// Inconclusive reports whether a verdict says nothing about the program.
func Inconclusive(verdict string) bool { return verdict == Horizon || verdict == TooLarge }
