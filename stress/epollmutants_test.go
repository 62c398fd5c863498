package stress

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"eventide/props/mutant"
)

const (
	moduleRoot    = ".."
	pollerMutants = "testdata/mutants/poller"
	killedBy      = "# killed by: "
)

// TestPollerMutants: every planted bug of the pollers fits the sources, and names
// the test of package core that sees it. With EVENTIDE_MUTANTS=1 each is built in
// and that test has to fail:
//
//	EVENTIDE_MUTANTS=1 go test ./stress -v -timeout 0 -run '^TestPollerMutants$'
func TestPollerMutants(t *testing.T) {
	all, err := mutant.Load(filepath.Join(moduleRoot, pollerMutants))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			changed, err := m.Apply(moduleRoot)
			if err != nil {
				t.Fatal(err)
			}
			if len(changed) == 0 {
				t.Fatal("it changes nothing")
			}
			killer := killerOf(t, m.Name)
			if os.Getenv("EVENTIDE_MUTANTS") != "" {
				plant(t, m, killer)
			}
		})
	}
}

// killerOf returns the pattern of tests that the file names.
func killerOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, pollerMutants, name+".mutant"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if killer, ok := strings.CutPrefix(line, killedBy); ok {
			return strings.TrimSpace(killer)
		}
	}
	t.Fatalf("no line %q", killedBy)
	return ""
}

// plant builds the tests of core with the bug in them, and runs its killer.
func plant(t *testing.T, m mutant.Mutant, killer string) {
	t.Helper()
	dir := t.TempDir()
	overlay, err := m.Overlay(moduleRoot, dir)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "core.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, module+"/core")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	run := exec.Command(binary, "-test.run", killer, "-test.timeout=3m")
	run.Dir = filepath.Join(moduleRoot, "core")
	out, err := run.CombinedOutput()
	if err == nil {
		t.Errorf("survived: go test ./core -run '%s' passes:\n%s", killer, out)
		return
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "_test.go:") {
			t.Logf("killed: %s", strings.TrimSpace(line))
			return
		}
	}
	t.Log("killed")
}
