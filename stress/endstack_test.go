package stress

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// TestTheEndFitsTheFirstStack: the loop of an executor that ran nothing ends on the stack with
// which its goroutine began. To grow it takes a third of an idle shutdown: a Report passed by value
// through these calls did that once. The frames are those of amd64, whatever the test runs on.
func TestTheEndFitsTheFirstStack(t *testing.T) {
	const (
		first    = 2048 // bytes of the stack of a new goroutine
		reserve  = 928  // of them, which the runtime keeps for functions that do not check the stack
		perFrame = 8    // the return address
	)
	calls := []string{
		"(*setup).spawn.func2", "(*Executor).runLoop", "(*Executor).finish", "(*Executor).finish.func1",
		"(*Executor).complete", "(*Executor).end", "(*Executor).seal", "(*Executor).reportAt", "(*shared).counts",
	}
	build := exec.Command("go", "build", "-gcflags=-S", "eventide/core")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	sum := 0
	for _, name := range calls {
		frame := regexp.MustCompile(`(?m)^eventide/core\.` + regexp.QuoteMeta(name) + ` STEXT.* locals=0x([0-9a-f]+) `).FindSubmatch(out)
		if frame == nil {
			t.Fatalf("the compiler lists no function %s: it was renamed or inlined, and this test has to follow", name)
		}
		n, err := strconv.ParseInt(string(frame[1]), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", name, n)
		sum += int(n) + perFrame
	}
	if sum > first-reserve {
		t.Errorf("the frames of the end have %d bytes, want at most %d", sum, first-reserve)
	}
}
