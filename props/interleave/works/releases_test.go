//go:build releases

package works

import (
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eventide/props/interleave/overlay"
	"eventide/props/interleave/protocol"
)

// TestRelease runs suite, web, kernels and verdicts with another Go release: that of the
// environment variable RELEASE, such as go1.25.14, which the go command downloads.
func TestRelease(t *testing.T) {
	release := os.Getenv("RELEASE")
	if release == "" {
		t.Fatal("RELEASE is not set")
	}
	tryRelease(t, release, overlay.Make)
}

// TestNextRelease tries the newest release or release candidate behind the supported ones,
// with the edits of the newest supported one. The error of a candidate that does not fit
// names each place that is missing. If there is no candidate, the test says so and is
// skipped: nothing was tried.
func TestNextRelease(t *testing.T) {
	newest := overlay.Supported()[len(overlay.Supported())-1]
	next := candidate(strings.Fields(ask(t, t.TempDir(), os.Environ(), "go", "list", "-m", "-versions", "go")), newest)
	if next == "" {
		t.Skipf("NOTHING WAS TRIED: there is no release and no release candidate after %s", newest)
	}
	t.Logf("trying %s with the edits of %s", next, newest)
	tryRelease(t, next, func(goroot, _, dir string) (string, error) { return overlay.MakeLike(goroot, newest, dir) })
}

// candidate returns the newest version behind a release, as go1.27rc1, or "". Versions are
// in ascending order, and go1.27rc1 comes before go1.27.0.
func candidate(versions []string, newest string) string {
	for _, v := range slices.Backward(versions) {
		v = "go" + v
		if version.IsValid(v) && version.Compare(version.Lang(v), newest) > 0 {
			return v
		}
	}
	return ""
}

func TestCandidate(t *testing.T) {
	for _, c := range []struct{ versions, want string }{
		{"go 1.26rc1 1.26.0 1.26.4", ""},
		{"go 1.26.4 1.27rc1 1.27rc2", "go1.27rc2"},
		{"go 1.26.4 1.27rc1 1.27.0 1.28rc1", "go1.28rc1"},
	} {
		if got := candidate(strings.Fields(c.versions), "go1.26"); got != c.want {
			t.Errorf("%s: %q, want %q", c.versions, got, c.want)
		}
	}
}

// tryRelease downloads a Go release, builds the tests with its overlay, and runs them.
func tryRelease(t *testing.T, release string, make func(goroot, version, dir string) (string, error)) {
	t.Helper()
	dir := module(t)
	cache := t.TempDir()
	root := ask(t, dir, append(os.Environ(), "GOTOOLCHAIN="+release), "go", "env", "GOROOT")
	root, err := overlay.Root(root, ask(t, dir, os.Environ(), "go", "env", "GOMODCACHE"), cache)
	if err != nil {
		t.Fatal(err)
	}
	command, env := overlay.RootEnv(root, append(os.Environ(), "GOFLAGS=-mod=mod"))
	name, err := make(root, ask(t, dir, env, command, "env", "GOVERSION"), cache)
	if err != nil {
		t.Fatal(err)
	}
	bin := func(pkg string) string {
		out := filepath.Join(dir, pkg+".test")
		ask(t, dir, env, command, append(append([]string{"test", "-c", "-vet=off", "-o", out}, overlay.BuildFlags(name)...), "./"+pkg)...)
		return out
	}
	suite := bin("suite")
	for _, name := range tests(t, suite) {
		passes(t, suite, name, 200, protocol.Request{})
	}
	web := bin("web")
	for _, name := range tests(t, web) {
		if name != planted {
			passes(t, web, name, 50, protocol.Request{})
		}
	}
	small := bin("kernels")
	for name, verdict := range kernels {
		finds(t, small, name, verdict, 2000, protocol.Request{})
	}
	sleeper := protocol.PartialDeadlock
	if strings.HasPrefix(release, "go1.25") {
		sleeper = protocol.Horizon // its collector cannot tell
	}
	verdicts := bin("verdicts")
	for name, verdict := range map[string]string{"TestPolite": protocol.Livelock, "TestStarvation": protocol.Starvation,
		"TestHorizon": protocol.Horizon, "TestLatePanic": protocol.LateFailure, "TestPartialDeadlock": protocol.PartialDeadlock,
		"TestPartialSleeper": sleeper, "TestSpinBesideSleeper": protocol.Livelock, "TestTimerOrder": protocol.Failed,
		"TestResultInTime": protocol.Failed, "TestLargerGuard": protocol.TooLarge} {
		finds(t, verdicts, name, verdict, 1000, protocol.Request{Steps: 100000})
	}
	faults := bin("faults")
	finds(t, faults, "TestReset", protocol.Failed, 1000, protocol.Request{Faults: []string{protocol.FaultReset}})
	finds(t, faults, "TestContexts", protocol.Failed, 1000, protocol.Request{Faults: []string{protocol.FaultContexts}})
	finds(t, faults, "TestCancels", protocol.Failed, 1000, protocol.Request{Faults: []string{protocol.FaultCancels}})
	passes(t, suite, "TestTinyTickers", 100, protocol.Request{}, "GODEBUG=asynctimerchan=1")
	for _, name := range []string{"TestClock", "TestGuard", "TestRawCall", "TestChild"} {
		passes(t, verdicts, name, 20, protocol.Request{})
	}
}

// module copies the tests into a module of their own, with dependencies that every
// supported release can build.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"suite", "web", "kernels", "verdicts", "faults"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(directoryOf(name))); err != nil {
			t.Fatal(err)
		}
	}
	const mod = "module sample\n\ngo 1.25\n\nrequire (\n\tgo.uber.org/goleak v1.3.0\n\tgolang.org/x/sync v0.16.0\n)\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ask runs a command in dir, and returns its output.
func ask(t *testing.T, dir string, env []string, command string, args ...string) string {
	t.Helper()
	cmd := exec.Command(command, args...)
	cmd.Dir, cmd.Env = dir, env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s%s", command, args, err, out, stderr.String())
	}
	return strings.TrimSpace(string(out))
}
