package measure

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"eventide/props/interleave/evidence"
	"eventide/props/interleave/overlay"
	"eventide/props/interleave/protocol"
)

// controlledTests are the packages whose tests are repeated, with a pattern of the tests
// that pass under every schedule.
var controlledTests = []struct{ dir, pattern string }{
	{"props/interleave/works/testdata/suite", ""},
	{"props/interleave/works/testdata/web", "^Test([^P]|Post)"}, // without TestPlanted
	{"props/interleave/works/testdata/network", ""},
	{KernelDir, repaired + "$"},
}

// Determinism runs the same schedules of each test in several processes, side tests at
// once, beside load goroutines that never wait. Binaries are kept in dir.
func Determinism(dir string, schedules, processes, load, side int, done func(evidence.Repeated)) (*evidence.Determinism, error) {
	d := &evidence.Determinism{Schedules: schedules, Processes: processes, Load: load}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	file, hash, err := overlayOf()
	if err != nil {
		return nil, err
	}
	d.Overlay = hash
	var stop atomic.Bool
	var busy sync.WaitGroup
	for range load {
		busy.Go(func() {
			for !stop.Load() {
			}
		})
	}
	defer busy.Wait()
	defer stop.Store(true)
	for _, p := range controlledTests {
		b, err := compile(p.dir, filepath.Join(dir, filepath.Base(p.dir)+".test"), overlay.BuildFlags(file)...)
		if err != nil {
			return nil, err
		}
		names, err := b.tests(p.pattern)
		if err != nil {
			return nil, err
		}
		rows := make([]evidence.Repeated, len(names))
		errs := make([]error, len(names))
		slots := make(chan struct{}, max(side, 1))
		var wg sync.WaitGroup
		for i, name := range names {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				rows[i] = evidence.Repeated{Package: strings.TrimPrefix(p.dir, "props/interleave/"), Test: name}
				if errs[i] = b.repeat(&rows[i], schedules, processes); errs[i] == nil {
					done(rows[i])
				}
			})
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		d.Rows = append(d.Rows, rows...)
	}
	return d, nil
}

// tests lists the tests of the binary whose names match.
func (b *binary) tests(pattern string) ([]string, error) {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.name, "-test.list=^Test")
	cmd.Dir = b.dir
	out, err := cmd.Output()
	return slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return !match.MatchString(name) }), err
}

// repeat runs the schedules of a test in several processes and compares their hashes. A
// finding is an error: the tests have none.
func (b *binary) repeat(row *evidence.Repeated, schedules, processes int) error {
	var first []string
	for i := range processes {
		e, err := b.run(row.Test, schedules, protocol.Request{Detail: 1})
		if err != nil {
			return err
		}
		if e.finding != nil || len(e.hashes) != schedules {
			return fmt.Errorf("%s: %d schedules of %d, finding %+v\n%s", row.Test, len(e.hashes), schedules, e.finding, e.output)
		}
		c := e.counts
		row.Uncontrolled = max(row.Uncontrolled, c.Raw+c.Cgo+c.Sockets+c.Children+c.Signals+c.GC)
		for _, place := range e.outside {
			if !slices.Contains(row.Outside, place) {
				row.Outside = append(row.Outside, place)
			}
		}
		if i == 0 {
			first = e.hashes
		} else if !slices.Equal(first, e.hashes) {
			row.Different++
		}
	}
	return nil
}
