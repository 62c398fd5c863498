package interleave

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"eventide/props/interleave/driver"
)

const library = "testdata/library"

func TestRefusal(t *testing.T) {
	if refusal(false, false) == "" {
		t.Error("a test may run where nothing chooses schedules")
	}
	if refusal(true, false) != "" || refusal(false, true) != "" {
		t.Error("a test may not run under the command")
	}
}

// In a process of go test, where nothing chooses schedules, each function fails.
func TestUncontrolledFails(t *testing.T) {
	for _, name := range []string{"TestExplore", "TestNotLinearizable", "TestLinearizable"} {
		cmd := exec.Command("go", "test", "-count=1", "-run", "^"+name+"$", "./"+library)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "this process chooses no schedules") {
			t.Errorf("%s: error %v, want a failure that says that no schedules are chosen\n%s", name, err, out)
		}
	}
}

// pageIndent is before the lines of a failure's text in the report of a finding.
const pageIndent = "              "

// Under control each bug is found, and nothing in the linearizable counter.
func TestControlled(t *testing.T) {
	t.Setenv("INTERLEAVE_CACHE", t.TempDir())
	for name, want := range map[string]string{
		"TestExplore": "library_test.go:23: an update is lost",
		// Two operations are enough, with the least argument.
		"TestNotLinearizable": "interleave: not linearizable\n" + pageIndent + "  thread 0: Add(1)\n" + pageIndent + "  thread 1: Add(1)\n" + pageIndent + "history\n",
		"TestLinearizable":    "",
	} {
		var out bytes.Buffer
		code, err := driver.Test(driver.Options{Dir: library, Run: "^" + name + "$", Schedules: 300, FailFast: true, Leaks: true, Exhaust: -1,
			Stdout: &out, Stderr: os.Stderr})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if found := code == driver.ExitFinding; found != (want != "") || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d, want the output to contain %q\n%s", name, code, want, out.String())
		}
		if strings.Contains(out.String(), "engine.go") {
			t.Errorf("%s: the schedule shows lines of a dependency\n%s", name, out.String())
		}
		lost := strings.Contains(out.String(), "fails without control too: library_test.go:23: an update is lost") // a busy machine may do that
		if strings.Contains(out.String(), "without control") && !lost {
			t.Errorf("%s: the run without control failed\n%s", name, out.String())
		}
	}
}
