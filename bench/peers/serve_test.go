package peers

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"eventide/bench"
)

// requests are one of each, small.
var requests = []string{
	"about", "execute producers=2 n=2000", "inloop n=2000", "roundtrip pause=200000 n=20", "roundtrip pause=0 n=50",
	"peak n=2000", "latency rate=100000 warm=50 n=200", "schedulecancel where=loop n=640", "schedulecancel where=outside n=640",
	"lateness n=20", "shutdown n=2", "overshoot quiet=5000000 n=2", "backlog tasks=100", "echo-start", "memory", "echo-stop", "echo-start burn=1", "echo-stop",
}

// TestEveryImplementationAnswers asks everybody everything: an answer is a measurement
// or the reason why there is none.
func TestEveryImplementationAnswers(t *testing.T) {
	s := server{impls: goImpls()}
	defer s.close()
	for name := range s.impls {
		for _, line := range requests {
			a, err := s.answer(line + " impl=" + name)
			if err != nil {
				t.Errorf("%s: %s: %v", name, line, err)
				continue
			}
			measured := a.Ops > 0 && a.Elapsed > 0 || a.Samples.Total() > 0 || a.Resident > 0 || a.text != nil
			if measured == (a.None != "") {
				t.Errorf("%s: %s: got %+v, want a measurement or a reason", name, line, a)
			}
			if back, err := ParseAnswer(a.String()); err != nil || back.None != a.None {
				t.Errorf("%s: %s: the answer %q reads as %+v, %v", name, line, a, back, err)
			}
			if name == "core" && (a.Lost > 0 || a.Short > 0) {
				t.Errorf("core: %s: %d tasks lost, %d quiet periods too short; want none (G3, G10)", line, a.Lost, a.Short)
			}
		}
	}
}

func TestEchoLoadMeasures(t *testing.T) {
	for _, name := range []string{"net", "gnet", "core-loop"} {
		s := server{impls: goImpls()}
		up, err := s.answer("echo-start impl=" + name)
		if err != nil {
			t.Fatal(err)
		}
		if up.None != "" {
			t.Logf("%s: %s", name, up.None)
			continue
		}
		a, err := echoLoad("127.0.0.1:"+up.text["port"], 3)
		if err != nil || a.Ops == 0 {
			t.Errorf("%s: got %+v, %v; want requests", name, a, err)
		}
		if _, err := s.answer("echo-stop impl=" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestServeSaysWhatIsWrong(t *testing.T) {
	lines := []string{"about impl=nobody", "dance impl=core", "execute impl=core", "echo-stop impl=net", "about impl=core"}
	var out bytes.Buffer
	if err := Serve(strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(answers) != len(lines) {
		t.Fatalf("got %q, want %d answers", answers, len(lines))
	}
	for i, a := range answers {
		want := answerError
		if i == len(answers)-1 {
			want = answerOK
		}
		if !strings.HasPrefix(a, want) {
			t.Errorf("%s: got %q, want %s", lines[i], a, want)
		}
	}
}

// TestRoundTripsThatDoNotParkAreVoid: an executor that falls asleep twice, or not at
// all, between trips has not been idle.
func TestRoundTripsThatDoNotParkAreVoid(t *testing.T) {
	for step, void := range map[int64]bool{1: false, 2: true} {
		im := impl{open: func() (executor, error) { return &sleeper{step: step}, nil }}
		a, err := measureRoundTrips(im, request("roundtrip", "pause", 1, "n", 5))
		if got := err != nil || a.Void > 0; got != void {
			t.Errorf("parks by %d: got %+v, %v; want void %v", step, a, err, void)
		}
	}
}

// sleeper runs tasks on goroutines and claims to park step times between two.
type sleeper struct{ step, parks int64 }

func (s *sleeper) Execute(task func()) error { go task(); return nil }
func (s *sleeper) Close() error              { return nil }
func (s *sleeper) Parks() int64              { s.parks += s.step; return s.parks }

func TestNoRoundsAreAnError(t *testing.T) {
	if _, err := Measure(Options{Rounds: 0}); err == nil {
		t.Error("0 rounds: got no error")
	}
}

// staller keeps its first call of Execute waiting.
type staller struct {
	executor
	once  sync.Once
	stall time.Duration
}

func (s *staller) Execute(task func()) error {
	s.once.Do(func() { time.Sleep(s.stall) })
	return s.executor.Execute(task)
}

// TestLatencyCountsFromWhenATaskIsDue: all of the tasks are due while a call of 30 ms
// keeps their producer, so all are late by 20 ms or more. From the call of Execute on
// it would be one.
func TestLatencyCountsFromWhenATaskIsDue(t *testing.T) {
	im := impl{open: func() (executor, error) {
		x, err := bench.NewMutex()
		return &staller{executor: x, stall: 30 * time.Millisecond}, err
	}}
	// One that is kept is not started by a task, which would be the first call.
	x, err := im.open()
	if err != nil {
		t.Fatal(err)
	}
	im.slowStop, im.kept = true, &x
	a, err := measureLatency(im, request("latency", "rate", 100_000, "warm", 0, "n", 1000))
	if err != nil {
		t.Fatal(err)
	}
	if got, least := a.Samples.Quantile(1), float64(20*time.Millisecond); got < least || a.Samples.Total() != 1000 {
		t.Errorf("got p1 %v ns of %d tasks, want %v or more of 1000", got, a.Samples.Total(), least)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}
