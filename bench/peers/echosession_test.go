package peers

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// echoImpls are the servers of this program.
var echoImpls = []string{"core-loop", "core-loop-blocking", "gnet", "net"}

// withSession opens a session of the Go implementations.
func withSession(t *testing.T) *session {
	t.Helper()
	var impls []Impl
	for _, im := range Impls {
		if im.driver.name == goDriver.name {
			impls = append(impls, im)
		}
	}
	s := open(impls, t.TempDir())
	t.Cleanup(s.close)
	if len(s.notRun) > 0 {
		t.Fatalf("got not run: %v", s.notRun)
	}
	return s
}

func named(t *testing.T, name string) Impl {
	t.Helper()
	im, ok := implNamed(name)
	if !ok {
		t.Fatalf("no implementation is called %q", name)
	}
	return im
}

// TestMemoryIsThatOfTheConnections: plain net needs a buffer of 4096 bytes for each, and loops need
// none. There are so few that what the process has anyway would be more than that for each. The
// heap alone is judged: the runtime keeps and gives back stacks by 32 KiB, more than loops need in all.
func TestMemoryIsThatOfTheConnections(t *testing.T) {
	const connections, buffer = 40, 4096
	s := withSession(t)
	for _, name := range echoImpls {
		a, err := s.memory(named(t, name), connections)
		if err != nil || a.Ops != connections {
			t.Fatalf("%s: got %+v, %v; want bytes for %d connections", name, a, err, connections)
		}
		if each := a.Heap / connections; (name == "net") != (each >= buffer) || each <= 0 {
			t.Errorf("%s: got %d B of heap for a connection; want %d or more of net alone, and more than 0", name, each, buffer)
		}
	}
}

// TestResidentMemoryGrows: 1000 goroutines with a buffer each cannot go unseen.
func TestResidentMemoryGrows(t *testing.T) {
	const connections = 1000
	a, err := withSession(t).memory(named(t, "net"), connections)
	if least := int64(connections * 4096); err != nil || a.Resident < least {
		t.Errorf("got %+v, %v; want %d B or more", a, err, least)
	}
}

func TestMemoryIsNotOfferedWithoutAServer(t *testing.T) {
	if a, err := withSession(t).memory(named(t, "ants"), 10); err != nil || a.None == "" {
		t.Errorf("got %+v, %v; want the reason why there is no server", a, err)
	}
}

func TestShutdownWithChannelsMeasuresTheStop(t *testing.T) {
	s := withSession(t)
	for _, name := range echoImpls {
		if a, err := s.channels(named(t, name), 40); err != nil || a.Ops != 1 || a.Elapsed <= 0 {
			t.Errorf("%s: got %+v, %v; want one stop", name, a, err)
		}
	}
}

func TestReadinessMeasuresTrips(t *testing.T) {
	s := withSession(t)
	for _, spinning := range []int{0, 1} {
		for _, name := range []string{"core-loop", "core-loop-blocking", "net"} {
			a, err := s.readiness(named(t, name), spinning)
			if err != nil || a.Samples.Total() != readinessTrips || a.Samples[0].Value <= 0 {
				t.Errorf("%s, %d spinning: got %+v, %v; want %d trips, each of some time", name, spinning, a, err, readinessTrips)
			}
		}
	}
}

// TestBurnersSpinUntilTheyAreEnded: so many are there between burn and end.
func TestBurnersSpinUntilTheyAreEnded(t *testing.T) {
	before := runtime.NumGoroutine()
	b := burn(3)
	if got, want := runtime.NumGoroutine(), before+3; got != want {
		t.Errorf("got %d goroutines, want %d", got, want)
	}
	b.end()
	for runtime.NumGoroutine() > before { // a WaitGroup lets go before its goroutine is gone
		runtime.Gosched()
	}
}

// TestConnectionsHavePorts: none of the addresses has more connections than perSource.
func TestConnectionsHavePorts(t *testing.T) {
	for i, want := range map[int]string{0: "127.0.0.1", 9_999: "127.0.0.1", 10_000: "127.0.0.2", 99_999: "127.0.0.10"} {
		if got := source(i).String(); got != want {
			t.Errorf("connection %d: got %s, want %s", i, got, want)
		}
	}
}

// TestTooManyDescriptorsAreNotRun: with the limit as the reason, and no target is met by it.
func TestTooManyDescriptorsAreNotRun(t *testing.T) {
	if err := allowDescriptors(10); err != nil {
		t.Errorf("10 descriptors: got %v", err)
	}
	err := allowDescriptors(1 << 40)
	if err == nil || !strings.Contains(err.Error(), "RLIMIT_NOFILE") {
		t.Fatalf("2^40 descriptors: got %v, want an error that names the limit", err)
	}
	r := rounds{tooMany: map[string]string{"shutdown/channels=10000": err.Error()}}
	w := workload(t, "shutdown/channels=10000")
	a, runErr := r.measure(w, named(t, "core-loop"))
	if runErr != nil || a.NotRun == "" {
		t.Fatalf("got %+v, %v; want not run", a, runErr)
	}
	rec := Recording{Header: RawHeader{Rounds: 12, Versions: map[string]string{"core-loop": "1", "netty-nio": "1"}}}
	for _, impl := range []string{"core-loop", "netty-nio"} {
		rec.Slices = append(rec.Slices, Slice{Workload: w.Name, Impl: impl, Answer: a})
	}
	report := rec.Report()
	for _, row := range report.Rows {
		if row.Status != NotRun || row.Rounds != 0 || row.Reason != a.NotRun {
			t.Errorf("got %+v, want not run with its reason", row)
		}
	}
	if g := target(t, report, "shutdown/channels=10000 core-loop / netty-nio"); g.Met || g.Reason == "" {
		t.Errorf("got %+v, want a target that is not judged", g)
	}
}

// TestAHoarderHasAProcessOfItsOwn: what gnet did not run before its end does not stay in
// the memory of the process that measures the others.
func TestAHoarderHasAProcessOfItsOwn(t *testing.T) {
	const tasks = 20_000
	s, im := withSession(t), named(t, "gnet")
	before, err := s.ask(im, "memory")
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.backlog(im, tasks)
	if err != nil || a.Ops != 1 {
		t.Fatalf("got %+v, %v; want one stop", a, err)
	}
	after, err := s.ask(im, "memory")
	if kept := after.Heap - before.Heap; err != nil || kept > 16*tasks {
		t.Errorf("got %d B kept, %v; want no more than %d", kept, err, 16*tasks)
	}
}

// TestTheTimeOfARunIsKnownBefore: every slice of a round, and every repetition.
func TestTheTimeOfARunIsKnownBefore(t *testing.T) {
	r := rounds{
		Options: Options{Warm: time.Second, Measure: []Impl{named(t, "core"), named(t, "netty-nio"), named(t, "netty-default")}},
		session: &session{notRun: map[string]string{"netty-default": "no java"}},
		took:    map[string]time.Duration{"a core": 2 * time.Second, "a net": time.Second},
	}
	if got, want := r.perRound(), 3*time.Second; got != want {
		t.Errorf("a round: got %v, want %v", got, want)
	}
	workloads := []Workload{workload(t, "execute/producers=1"), workload(t, "roundtrip/idle"), workload(t, "shutdown/channels=100")}
	if got, want := r.warmTime(workloads), 2*time.Second; got != want {
		t.Errorf("repetitions: got %v, want %v", got, want)
	}
}

func workload(t *testing.T, name string) Workload {
	t.Helper()
	for _, w := range Workloads() {
		if w.Name == name {
			return w
		}
	}
	t.Fatalf("no workload is called %q", name)
	return Workload{}
}
