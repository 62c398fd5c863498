package works

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"eventide/props/interleave/protocol"
)

var processes = flag.Int("processes", 3, "processes in which a test of the network runs the same schedules")

// differences are the scripts of testdata/network whose answers in memory are meant to
// differ from those of the kernel, with the answers.
var differences = map[string]string{
	// A connection in memory has no descriptor to duplicate.
	"TestFile": `*net.TCPConn: "file tcp 127.0.0.1:PORT->127.0.0.1:PORT: dup: operation not supported" *net.OpError
*net.TCPListener: "file tcp 127.0.0.1:PORT: dup: operation not supported" *net.OpError
*net.UnixConn: "file unix @->DIR/s: dup: operation not supported" *net.OpError
`,
	// Nor does it pass descriptors on.
	"TestRights": `"write unix @: sendmsg: operation not supported" *net.OpError
`,
}

// TestAnswers runs the scripts of testdata/network on the kernel's network and on the
// one in memory, and compares the answers.
func TestAnswers(t *testing.T) {
	bin := build(t, "network")
	real := answers(t, func(folder string) {
		cmd := exec.Command(bin, "-test.count=1")
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "ANSWERS="+folder)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
	for _, name := range tests(t, bin) {
		t.Run(name, func(t *testing.T) {
			memory := answers(t, func(folder string) {
				got := explore(t, bin, name, 10, protocol.Request{}, "ANSWERS="+folder)
				if got.code != 0 || len(got.findings) != 0 {
					t.Fatalf("exit code %d, findings %+v\n%s", got.code, got.findings, got.out)
				}
				if got.summary.Sockets != 0 && differences[name] == "" {
					t.Errorf("%d waits for descriptors of the kernel", got.summary.Sockets)
				}
			})
			if len(memory) == 0 {
				t.Fatal("no answers")
			}
			for script, text := range memory {
				want := real[script]
				if other, ok := differences[name]; ok {
					if want == other {
						t.Errorf("%s: the kernel's answers are those in memory", script)
					}
					want = other
				}
				if text != want {
					t.Errorf("%s: answers in memory\n%s\nwant\n%s", script, text, want)
				}
			}
		})
	}
}

// answers returns what the scripts wrote, by their names.
func answers(t *testing.T, run func(folder string)) map[string]string {
	t.Helper()
	folder := t.TempDir()
	run(folder)
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, entry := range list {
		b, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts[entry.Name()] = string(b)
	}
	return texts
}

// planted are the tests of testdata/web that have a bug.
const planted = "TestPlanted"

// TestWeb runs servers and clients of net/http and net/rpc: many schedules without a
// finding, and the same ones in each process. Nothing waits for the kernel.
func TestWeb(t *testing.T) {
	bin := build(t, "web")
	for _, name := range tests(t, bin) {
		if name == planted {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sameInEachProcess(t, bin, name)
		})
	}
}

// sameInEachProcess runs the same schedules of a test of the network in several processes.
// Nothing waits for the kernel.
func sameInEachProcess(t *testing.T, bin, name string) {
	t.Helper()
	first := passes(t, bin, name, 100, protocol.Request{Detail: 1})
	if first.summary.Sockets != 0 {
		t.Errorf("%d waits for descriptors of the kernel", first.summary.Sockets)
	}
	for range *processes - 1 {
		again := passes(t, bin, name, 100, protocol.Request{Detail: 1})
		for i, s := range again.schedules {
			if s.Hash != first.schedules[i].Hash || s.Class != first.schedules[i].Class {
				t.Fatalf("schedule %d differs between two processes: %+v and %+v", i, first.schedules[i], s)
			}
		}
	}
}

// TestWebPlanted finds a bug of a handler, and repeats its schedule in a new process.
func TestWebPlanted(t *testing.T) {
	bin := build(t, "web")
	for seed := uint64(1); seed <= 3; seed++ {
		s, got := finds(t, bin, planted, protocol.Failed, 1000, protocol.Request{Seed: seed})
		if !strings.Contains(got.out, "both have ticket 0") {
			t.Errorf("seed %d: %s", seed, got.out)
		}
		again, _ := finds(t, bin, planted, protocol.Failed, 1, replay(s))
		if again.Hash != s.Hash {
			t.Errorf("seed %d: the replay of schedule %d has hash %x, want %x", seed, s.Number, again.Hash, s.Hash)
		}
	}
}

// TestWebRace has no report of the race detector.
func TestWebRace(t *testing.T) {
	bin := build(t, "web", "-race")
	for _, name := range tests(t, bin) {
		if name == planted {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, bin, name, 30, protocol.Request{})
		})
	}
}

// TestRealNetwork leaves sockets to the kernel, and counts the waits for them.
func TestRealNetwork(t *testing.T) {
	got := passes(t, build(t, "web"), "TestGet", 5, protocol.Request{Net: protocol.NetReal})
	if got.summary.Sockets == 0 {
		t.Errorf("%+v", got.summary)
	}
}

// TestConnectionsAreTraced reads the trace of a test that closes connections: the names
// of their operations have blanks.
func TestConnectionsAreTraced(t *testing.T) {
	got := passes(t, build(t, "network"), "TestEcho", 2, protocol.Request{Detail: 2})
	names := map[string]int{}
	for _, r := range got.records {
		if r.Kind == protocol.KindOp {
			names[protocol.OpOf(r).Name]++
		}
	}
	for _, want := range []string{"read", "write", "close connection", "socket"} {
		if names[want] == 0 {
			t.Errorf("no operation %q among %v", want, names)
		}
	}
}
