//go:build verify

package props

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"eventide/props/faults"
	"eventide/props/history"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

// TestRealLane is the real lane: the programs of all guarantees, on event loops over epoll and on
// groups of them, in real time, many at once. Each round has conditions of its own: calls that its
// programs leave out, processors, garbage collections, and, if it is built with package faults,
// system calls of pollers that fail. After each round no goroutine and no
// descriptor may be left. The environment is that of TestLane.
func TestRealLane(t *testing.T) {
	l := newLane(t, "real")
	_, err := RunReal(Program{Loop: true})
	require.NoError(t, err)
	base, err := openDescriptors() // after the runtime has opened its own
	require.NoError(t, err)
	goroutines := goleak.IgnoreCurrent()
	for round := uint64(0); time.Since(l.began) < l.budget && len(l.violated()) == 0; round++ {
		l.realRound(t, l.seed+round)
		if err := goleak.Find(goroutines); err != nil {
			l.leaks(t, err.Error())
		}
		if now, err := openDescriptors(); err != nil || now > base {
			l.leaks(t, fmt.Sprintf("%d descriptors are open, and %d were before the programs ran (%v)", now, base, err))
		}
	}
	l.print()
}

// together is how many programs run at once in real time: they mostly wait.
const together = 24

// groupsBeside is how many programs of groups run beside those of a round.
const groupsBeside = 4

// descriptorsPerProgram is how many descriptors a program has at most: both ends of its socket
// pairs, or the poller of each child of a group, which has three.
const descriptorsPerProgram = max(2*fdNumbers+3, 3*5)

// atOnce returns n, or less if the process may not open so many descriptors.
func atOnce(n int) int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return n
	}
	const others = 64 + groupsBeside*descriptorsPerProgram // of the runtime, of the test, and of the groups beside
	room := (int(min(limit.Cur, 1<<20)) - others) / descriptorsPerProgram
	return min(n, max(room, 1))
}

// realConditions are the settings of a round of the real lane, beside its programs.
type realConditions struct {
	swarm      Swarm
	processors int
	garbage    int         // percent, of debug.SetGCPercent
	faults     faults.Plan // of the system calls of pollers, in a program that is built for them
}

// drawConditions draws the conditions of a round.
func drawConditions(seed uint64) realConditions {
	rng := rand.New(rand.NewPCG(seed, 0))
	return realConditions{
		swarm: DrawSwarm(rng), processors: 1 + rng.IntN(8), garbage: []int{1, garbagePercent}[rng.IntN(2)],
		faults: faults.Draw(rng).Only(faults.Pollers...),
	}
}

// realRound runs a number of programs at once, of the guarantees in turn, and some of groups.
func (l *laneRun) realRound(t *testing.T, seed uint64) {
	set(t, "rapid.checks", "1")
	l.seeded(t, seed)
	g := Guarantees[seed%uint64(len(Guarantees))]
	if only, ok := Lookup(l.only); ok {
		g = only
	}
	with := drawConditions(seed)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(with.processors))
	defer debug.SetGCPercent(debug.SetGCPercent(with.garbage))
	defer faults.Use(with.faults)()
	profile := g.Profile
	profile.Real = true
	programs, groups := atOnce(together), groupsBeside
	if g.ID == "G21" {
		programs, groups = 0, atOnce(together)
	}
	t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var all sync.WaitGroup
			for _, p := range rapid.SliceOfN(Programs(profile), programs, programs).Draw(t, "programs") {
				p = with.swarm.Apply(p)
				all.Go(func() { l.real(p) })
			}
			for _, p := range rapid.SliceOfN(RealGroupPrograms(), groups, groups).Draw(t, "groups") {
				all.Go(func() { l.realGroup(p) })
			}
			all.Wait()
			if failed := l.violated(); len(failed) > 0 {
				t.Fatal(strings.Join(failed, "\n"))
			}
		})
	})
}

// realGroup runs one program of a group in real time and keeps it if it violates.
func (l *laneRun) realGroup(p GroupProgram) {
	broken := p.RunReal()
	v := Verdict{Exercised: map[string]bool{"G21": p.Exercises()}}
	if broken != "" {
		v.Violations = []history.Violation{p.Violation(broken)}
	}
	l.observe(v)
	if broken == "" {
		return
	}
	w := p.Violation(broken)
	path, err := Case{Guarantee: w.Guarantee, Text: w.Text, Group: &p}.Save(caseDir())
	if err != nil {
		path = err.Error()
	}
	fmt.Printf("%v\n\nprogram  %+v\n\nreplay  %s\n", w, p, replayLine(path, "-realtime"))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed[w.Guarantee] = w.String()
}

// real runs one program in real time and keeps it if it violates.
func (l *laneRun) real(p Program) {
	out, err := RunReal(p)
	var v Verdict
	if err == nil {
		v, err = JudgeIn(Real, p, out)
	}
	if err != nil {
		l.mu.Lock()
		l.failed["G15"] = fmt.Sprintf("props: the harness: %v\n%v", err, p)
		l.mu.Unlock()
		return
	}
	l.observe(v)
	if len(v.Violations) == 0 {
		return
	}
	first := v.Violations[0]
	path, err := Case{Guarantee: first.Guarantee, Text: first.Text, Program: p}.Save(caseDir())
	if err != nil {
		path = err.Error()
	} else if err := v.saveTimeline(path, p, first, "-realtime"); err != nil {
		fmt.Println("props: the timeline could not be saved:", err)
	}
	fmt.Println(v.Failure(p, first, replayLine(path, "-realtime")))
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range v.Violations {
		l.failed[w.Guarantee] = w.String()
	}
}

func (l *laneRun) leaks(t *testing.T, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed["G24"] = "G24 nothing is left behind: " + what
	t.Error(l.failed["G24"])
}

// openDescriptors counts the descriptors of the process.
func openDescriptors() (int, error) {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0, fmt.Errorf("props: counting descriptors: %w", err)
	}
	return len(names) - 1, nil // one is that of ReadDir
}
