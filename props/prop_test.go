package props

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"

	"eventide/internal/contract"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

var (
	caseFlag = flag.String("case", "", "case file to run again, see TestReplay")
	realTime = flag.Bool("realtime", false, "run the case of -case in real time, as the real lane did")
	replays  = flag.Int("replays", 2000, "how often TestReplay runs a case before it gives up")
)

// TestMain runs more programs than rapid does by default, unless told otherwise
// by -short, -rapid.checks or RAPID_CHECKS.
func TestMain(m *testing.M) {
	flag.Parse()
	told := os.Getenv("RAPID_CHECKS") != ""
	flag.Visit(func(f *flag.Flag) { told = told || f.Name == "rapid.checks" })
	if !told && !testing.Short() {
		if err := flag.Set("rapid.checks", strconv.Itoa(fullRun)); err != nil {
			panic(err)
		}
	}
	if err := flag.Set("rapid.shrinktime", "0s"); err != nil { // see Property
		panic(err)
	}
	if err := refuseChecks(); err != nil {
		fmt.Fprintln(os.Stderr, "props:", err)
		os.Exit(2)
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // many programs panic, or pass their timeout
	goleak.VerifyTestMain(m)
}

// refuseChecks is an error for a number of programs by which every property would pass
// without having run one.
func refuseChecks() error {
	least := 1
	if testing.Short() {
		least = 5 // rapid divides by that
	}
	given := flag.Lookup("rapid.checks").Value.String()
	if n, err := strconv.Atoi(given); err != nil || n < least {
		return fmt.Errorf("-rapid.checks or RAPID_CHECKS is %s, want at least %d", given, least)
	}
	return nil
}

// prop checks generated programs that lean towards one guarantee, until enough of them
// have exercised it. A program that breaks another guarantee fails too.
func prop(t *testing.T, id string) {
	g, _ := Lookup(id)
	checkExercised(t, id, func(observe func(Verdict)) func(*rapid.T) { return propertyWith(g.Profile, "", observe) })
}

// TestPropAll lets every program of an even mix answer for every guarantee.
func TestPropAll(t *testing.T) { rapid.Check(t, Property("", nil)) }

// TestPropCells makes calls from every context in every state.
func TestPropCells(t *testing.T) { rapid.Check(t, propertyWith(Profile{Cells: true}, "", nil)) }

func TestPropG1StatesMoveForward(t *testing.T) { prop(t, "G1") }

func TestPropG2OneAtATime(t *testing.T) { prop(t, "G2") }

func TestPropG3ExactAdmission(t *testing.T) { prop(t, "G3") }

func TestPropG4FIFO(t *testing.T) { prop(t, "G4") }

func TestPropG5Refusal(t *testing.T) { prop(t, "G5") }

func TestPropG6Hooks(t *testing.T) { prop(t, "G6") }

func TestPropG7Timers(t *testing.T) { prop(t, "G7") }

func TestPropG8Cancel(t *testing.T) { prop(t, "G8") }

func TestPropG9EveryFutureEnds(t *testing.T) { prop(t, "G9") }

func TestPropG10QuietPeriod(t *testing.T) { prop(t, "G10") }

func TestPropG11DeadlineForAdmission(t *testing.T) { prop(t, "G11") }

func TestPropG12NoLostWakeUp(t *testing.T) { prop(t, "G12") }

func TestPropG13NoStarvation(t *testing.T) { prop(t, "G13") }

func TestPropG14Containment(t *testing.T) { prop(t, "G14") }

func TestPropG15Termination(t *testing.T) { prop(t, "G15") }

func TestPropG16FirstCallWins(t *testing.T) { prop(t, "G16") }

func TestPropG17Start(t *testing.T) { prop(t, "G17") }

func TestPropG18NoSelfDeadlock(t *testing.T) { prop(t, "G18") }

func TestPropG19BoundedQueue(t *testing.T) { prop(t, "G19") }

func TestPropG20Conservation(t *testing.T) { prop(t, "G20") }

func TestPropG21Group(t *testing.T) { checkExercised(t, "G21", GroupProperty) }

func TestPropG22RegistrationsEndCleanly(t *testing.T) { prop(t, "G22") }

func TestPropG23Drain(t *testing.T) { prop(t, "G23") }

func TestPropG24NothingLeaks(t *testing.T) { prop(t, "G24") }

// TestPropEveryGuaranteeHasOne keeps the table and the tests together.
func TestPropEveryGuaranteeHasOne(t *testing.T) {
	require.Equal(t, len(contract.Guarantees), len(Guarantees))
	for i, g := range Guarantees {
		require.Equal(t, fmt.Sprintf("G%d", i+1), g.ID)
		require.NotEmpty(t, g.Sentence)
		if g.Checked() {
			require.NotEmpty(t, g.Mutant, "%s has no mutant: nothing shows that its check can fail", g.ID)
		}
	}
}

// TestReplay runs the case named by -case until it fails again. Its three
// outcomes have exit texts of their own: reproduced, not reproduced, and a case
// that does not apply any more.
func TestReplay(t *testing.T) {
	paths := []string{*caseFlag}
	if *caseFlag == "" {
		var err error
		paths, err = filepath.Glob("../testdata/cases/*.case")
		require.NoError(t, err)
	}
	for _, path := range paths {
		c, err := LoadCase(path)
		if err != nil {
			t.Fatalf("no longer applies: %v", err)
		}
		runs := *replays
		if *caseFlag == "" && testing.Short() {
			runs /= 20
		}
		if p := c.untraced(); p != nil {
			replayUntraced(t, p, runs, path)
			continue
		}
		if *realTime {
			replayReal(t, c, path)
			continue
		}
		if v, violated := CheckAll(t, c.Program, runs, synctest.Test); violated {
			t.Errorf("reproduced: %s", v.Failure(c.Program, v.Violations[0], replayLine(path)))
			continue
		}
		t.Logf("not reproduced in %d runs: %s", runs, path)
	}
}

func replayUntraced(t *testing.T, p untraced, runs int, path string) {
	var flags []string
	run := func() (broken string) {
		synctest.Test(t, func(*testing.T) { broken = p.Run() })
		return broken
	}
	if inRealTime, ok := p.(interface{ RunReal() string }); ok && *realTime {
		run, runs, flags = inRealTime.RunReal, replaysInRealTime, []string{"-realtime"}
	}
	for range runs {
		if broken := run(); broken != "" {
			t.Errorf("reproduced: %v\nprogram  %+v\nreplay  %s", p.Violation(broken), p, replayLine(path, flags...))
			return
		}
	}
	t.Logf("not reproduced in %d runs: %s", runs, path)
}

// replaysInRealTime is how often a case is run in real time: each takes its time.
const replaysInRealTime = 50

func replayReal(t *testing.T, c Case, path string) {
	for range replaysInRealTime {
		out, err := RunReal(c.Program)
		require.NoError(t, err)
		v, err := JudgeIn(Real, c.Program, out)
		require.NoError(t, err)
		if len(v.Violations) > 0 {
			t.Errorf("reproduced: %s", v.Failure(c.Program, v.Violations[0], replayLine(path, "-realtime")))
			return
		}
	}
	t.Logf("not reproduced in %d runs in real time: %s", replaysInRealTime, path)
}
