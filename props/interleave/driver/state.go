package driver

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"eventide/internal/shard"
)

// stateEvery is the time after which a process ends so that the state of its test is
// written.
const stateEvery = 10 * time.Second

// stateVersion is the version of the format of state files.
const stateVersion = 1

// A state is a file with the progress of a run. A run that was killed continues from it,
// a later run does not explore unchanged tests again, and Merge joins the files of the
// shards of a run.
type state struct {
	Version int
	Shard   shard.Shard
	Tests   map[string]*keptTest // by package, test and round

	mu   sync.Mutex
	name string
}

// A keptTest is the progress of the search in a test.
type keptTest struct {
	Package, Test string
	Hash          string // see searchHash
	Next          uint64 // place of the first schedule that has not run
	Done          bool
	Result        string // pass, fail or skip, if it is done
	Code          int    // exit code of a run with this test alone
	About         string // what the run without control showed
	Notice        string
	Leaks, Cold   bool
	ColdUndecided bool
	Alone         string
	Stopped       string
	Spent, Took   time.Duration
	Exhaust       int
	Coverage      coverage
	Findings      []keptFinding
}

// elsewhere says whether another shard has explored the test.
func (t *keptTest) elsewhere() bool { return t.Done && t.Exhaust >= 0 && t.Coverage.Processes == 0 }

// A keptFinding is one distinct finding.
type keptFinding struct {
	Cause   cause
	Finding Finding
	Page    string
}

// openState reads a file of state; a missing file is an empty state.
func openState(name string, sh shard.Shard) (*state, error) {
	s, err := readState(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &state{Version: stateVersion, Shard: sh, Tests: map[string]*keptTest{}, name: name}, nil
	}
	if err != nil {
		return nil, inputError("-state: %w", err)
	}
	if s.Shard != sh {
		return nil, inputError("-state %s is of %s, and this is %s: remove it to begin again", name, shardText(s.Shard), shardText(sh))
	}
	return s, nil
}

func readState(name string) (*state, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, inputFailure{err}
	}
	s := &state{name: name}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, inputError("%s is no file of state: %w", name, err)
	}
	if s.Version != stateVersion || s.Tests == nil {
		return nil, inputError("%s is a file of state of version %d, want %d: remove it to begin again", name, s.Version, stateVersion)
	}
	return s, nil
}

func shardText(s shard.Shard) string {
	if s.Of <= 1 {
		return "a run without shards"
	}
	return fmt.Sprintf("shard %d of %d", s.Index+1, s.Of)
}

// put stores a test and replaces the file by a rename, so that no reader sees half of
// it.
func (s *state) put(key string, t *keptTest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Tests[key] = t
	text, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.name), 0o755); err != nil {
		return inputError("-state: %w", err)
	}
	if err := os.WriteFile(s.name+".new", text, 0o644); err != nil {
		return inputError("-state: %w", err)
	}
	return os.Rename(s.name+".new", s.name)
}

// get returns the kept test if it has the same hash, and otherwise nil.
func (s *state) get(key, hash string) *keptTest {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.Tests[key]; t != nil && t.Hash == hash {
		return t
	}
	return nil
}

func stateKey(pkg, test string, round uint64) string {
	return fmt.Sprintf("%s %s %d", pkg, test, round)
}

// contentHash is the hash of the test binary and of the files below testdata.
func (p *pkg) contentHash() (string, error) {
	h := sha256.New()
	names := []string{p.bin}
	err := filepath.WalkDir(filepath.Join(p.Dir, "testdata"), func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	for i, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		if i == 0 {
			name = "" // the path of the binary is no content
		}
		fmt.Fprintf(h, "%s %d\n", strings.TrimPrefix(name, p.Dir), len(b))
		h.Write(b)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// searchHash is the hash of everything that the search in a test depends on, except the
// shard. It does not cover files outside of the package's testdata and variables of the
// environment.
func (o *Options) searchHash(content string, t test, seed uint64) string {
	text := fmt.Sprintf("%s %q %d %q %v %v %v %d %d %d %d %d %q %q %q %q %v %v %q", content, t.Pattern, seed, o.Skip, o.Short, o.Race, o.FailFast, o.Parallel,
		o.Schedules, o.Budget, o.Exhaust, o.Steps, o.Strategy, o.Time, o.Net, o.Faults, o.Leaks, o.Fresh, o.Args)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:32]
}
