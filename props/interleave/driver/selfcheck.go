package driver

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"eventide/props/interleave/overlay"
	"eventide/props/interleave/protocol"
)

func newBuilder(tool *toolchain, o *Options) (*builder, error) {
	if err := tool.supported(); err != nil {
		return nil, err
	}
	overlays, err := cacheDir("overlay")
	if err != nil {
		return nil, err
	}
	name, err := overlay.Make(tool.Root, tool.Version, overlays)
	if err != nil {
		return nil, inputError("%w", err)
	}
	dir, err := cacheDir("bin")
	if err != nil {
		return nil, err
	}
	return &builder{tool: tool, opts: o, flags: overlay.BuildFlags(name), hash: filepath.Base(filepath.Dir(name)), dir: dir}, nil
}

//go:embed planted/*.txt
var planted embed.FS

// A plantedBug is a test of the planted package, and the verdict that it must have.
type plantedBug struct {
	Test    string
	Verdict string
	Race    bool   // searched for only with the race detector
	Time    string // the clock that it needs, "" for idle
	What    string
}

// plantedBugs are the bugs that the self-check and doctor look for. The self-check
// looks for the first of them, or for the race with the race detector.
var plantedBugs = []plantedBug{
	{"TestLostUpdate", protocol.Failed, false, "", "lost update of an atomic counter"},
	{"TestRace", protocol.Race, true, "", "unsynchronised write"},
	{"TestLockOrder", protocol.Deadlock, false, "", "two locks in two orders"},
	{"TestLostWakeUp", protocol.Deadlock, false, "", "signal before the wait"},
	{"TestSendOnClosed", protocol.Panicked, false, "", "send on a closed channel"},
	{"TestLeak", protocol.Leak, false, "", "goroutine left behind"},
	{"TestTimeout", protocol.Failed, false, protocol.TimeMixed, "timeout at the moment of the result"},
	{"TestSelect", protocol.Failed, false, "", "priority of select cases that are ready at once"},
	{"TestRepaired", "", false, "", "no bug: nothing may be found"},
}

// plantedPackage writes the planted package into the cache and compiles it with the
// flags of the run.
func (b *builder) plantedPackage() (*builder, *pkg, error) {
	test, err := planted.ReadFile("planted/planted_test.go.txt")
	if err != nil {
		return nil, nil, err
	}
	dir, err := cacheDir("planted", shortHash(string(test)))
	if err != nil {
		return nil, nil, err
	}
	use(dir)
	files := map[string]string{"go.mod": "module planted\n\ngo 1.25\n", "planted_test.go": string(test)}
	for name, text := range files {
		name = filepath.Join(dir, name)
		if old, err := os.ReadFile(name); err == nil && string(old) == text {
			continue
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return nil, nil, inputError("the cache cannot be written: %w", err)
		}
	}
	tool := *b.tool
	tool.dir = dir
	tool.env = append(append([]string{}, tool.env...), "GOWORK=off", "GO111MODULE=on", "GOFLAGS=", "GOTOOLCHAIN="+strings.Fields(b.tool.Version)[0])
	variant := *b
	variant.tool = &tool
	variant.opts = &Options{Race: b.opts.Race, Exhaust: -1, Timeout: defaultTimeout, Strategy: protocol.StrategyMix}
	p := &pkg{ImportPath: "planted", Dir: dir}
	return &variant, p, variant.compile(p)
}

// plantedLimit is the most schedules in which a planted bug must be found.
const plantedLimit = 200

// find explores a planted bug and returns the schedule that showed it.
func (b *builder) find(p *pkg, bug plantedBug, seed uint64) (*ending, error) {
	request := protocol.Request{Seed: seed, Time: bug.Time, IgnoreLeaks: bug.Verdict != protocol.Leak}
	e, err := (&process{pkg: p, opts: b.opts, pattern: "^" + bug.Test + "$", request: request, count: plantedLimit}).start()
	if err != nil {
		return nil, err
	}
	got := ""
	if e.finding != nil {
		got = e.cause().Verdict
	}
	if got == protocol.Race && bug.Verdict == protocol.Panicked {
		got = bug.Verdict // the detector reports the race of send and close before the panic
	}
	if got != bug.Verdict {
		return nil, fmt.Errorf("%s (%s): got verdict %q in %d schedules, want %q", bug.Test, bug.What, got, plantedLimit, bug.Verdict)
	}
	return e, nil
}

// errSelfCheck is wrapped by the error of a run that did not find its planted bug, so
// that its other results mean nothing.
var errSelfCheck = errors.New("self-check failed")

// selfCheck finds a planted bug with the overlay, the toolchain and the flags of the
// run, in each run. Only its binary comes from the cache.
func (s *session) selfCheck() error {
	b, p, err := s.builder.plantedPackage()
	if errors.Is(err, errBuild) {
		return inputError("the go command cannot compile with the overlay: %w", err)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errSelfCheck, err)
	}
	for _, bug := range plantedBugs[:2] {
		if bug.Race && !s.opts.Race {
			continue
		}
		e, err := b.find(p, bug, s.opts.Seed)
		if err != nil {
			return fmt.Errorf("%w: %w", errSelfCheck, err)
		}
		if s.opts.Verbose && !s.opts.JSON {
			fmt.Fprintf(s.opts.Stdout, "self-check: planted bug (%s) found in schedule %d\n", bug.What, e.finding.Number)
		}
	}
	return nil
}
