package driver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"eventide/props/interleave/protocol"
)

// replayVersion is the version of the format of replay files.
const replayVersion = 1

// A Replay is the content of a replay file: all that is needed to repeat a finding in
// a fresh process. The comments name the keys of the file's lines.
type Replay struct {
	Package string           // package: import path
	Test    string           // test
	Pattern string           // run: for -test.run
	Release string           // go: release that built the test binary
	Overlay string           // overlay: hash of the overlay
	Sources string           // sources: hash of the package's own files
	Race    bool             // race
	Short   bool             // short
	Tags    string           // tags
	Args    []string         // arg: of the test binary, one line for each, as Go string literals
	Verdict string           // verdict
	Message string           // message: a Go string literal
	Count   uint64           // schedules: how many run in the process; the last one is the finding
	Timing  bool             // timing: the finding needs the clock to move while a goroutine can run
	Request protocol.Request // request
}

// String returns the text of the file.
func (r *Replay) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "interleave replay %d\n", replayVersion)
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	yes := func(on bool) string {
		if on {
			return "yes"
		}
		return ""
	}
	line("package", r.Package)
	line("test", r.Test)
	if r.Pattern != "^"+r.Test+"$" {
		line("run", r.Pattern)
	}
	line("go", r.Release)
	line("overlay", r.Overlay)
	line("sources", r.Sources)
	line("race", yes(r.Race))
	line("short", yes(r.Short))
	line("tags", r.Tags)
	for _, arg := range r.Args {
		line("arg", strconv.Quote(arg))
	}
	line("verdict", r.Verdict)
	line("message", strconv.Quote(r.Message))
	if r.Count > 1 {
		line("schedules", fmt.Sprint(r.Count))
	}
	line("timing", yes(r.Timing))
	request := r.Request
	request.FD, request.Detail, request.Budget = 3, 0, 0
	line("request", request.Encode())
	return b.String()
}

// ParseReplay reads the text of a replay file.
func ParseReplay(text string) (*Replay, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	var version int
	if n, _ := fmt.Sscanf(lines[0], "interleave replay %d", &version); n != 1 {
		return nil, inputError("not a replay file: the first line is %q, want \"interleave replay %d\"", lines[0], replayVersion)
	}
	if version != replayVersion {
		return nil, inputError("replay file of version %d, want %d", version, replayVersion)
	}
	r := &Replay{Count: 1}
	for i, line := range lines[1:] {
		key, value, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, inputError("line %d: %q, want key: value", i+2, line)
		}
		if err := r.set(key, value); err != nil {
			return nil, inputError("line %d: %w", i+2, err)
		}
	}
	return r, r.complete()
}

func (r *Replay) complete() error {
	if r.Pattern == "" {
		r.Pattern = "^" + regexp.QuoteMeta(r.Test) + "$"
	}
	for key, value := range map[string]string{"package": r.Package, "test": r.Test, "verdict": r.Verdict} {
		if value == "" {
			return inputError("there is no line %s", key)
		}
	}
	if r.Request.FD == 0 {
		return inputError("there is no line request")
	}
	return nil
}

func (r *Replay) set(key, value string) (err error) {
	texts := map[string]*string{"package": &r.Package, "test": &r.Test, "run": &r.Pattern, "go": &r.Release, "overlay": &r.Overlay,
		"sources": &r.Sources, "tags": &r.Tags, "verdict": &r.Verdict}
	flags := map[string]*bool{"race": &r.Race, "short": &r.Short, "timing": &r.Timing}
	switch {
	case texts[key] != nil:
		*texts[key] = value
	case flags[key] != nil:
		*flags[key] = value == "yes"
	case key == "arg":
		arg, err := strconv.Unquote(value)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		r.Args = append(r.Args, arg)
	case key == "message":
		r.Message, err = strconv.Unquote(value)
	case key == "schedules":
		r.Count, err = strconv.ParseUint(value, 10, 32)
		if err == nil && r.Count == 0 {
			err = errors.New("want a positive number")
		}
	case key == "request":
		r.Request, err = protocol.ParseRequest(value)
	default:
		return fmt.Errorf("there is no key %q", key)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// regressionDir is the directory of a package's regression files, below its own.
const regressionDir = "testdata/interleave"

// ReadReplay reads a replay file.
func ReadReplay(name string) (*Replay, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, inputError("%w", err)
	}
	r, err := ParseReplay(string(b))
	if err != nil {
		return nil, inputError("%s: %w", name, err)
	}
	return r, nil
}

// replayOf is the content of the replay file of a finding.
func (s *search) replayOf(f *found, b *builder) (*Replay, error) {
	sources, err := s.pkg.sourceHash()
	if err != nil {
		return nil, err
	}
	return &Replay{
		Package: s.pkg.ImportPath, Test: s.test.Name, Pattern: s.test.Pattern, Release: b.tool.Version, Overlay: b.hash,
		Sources: sources, Race: s.opts.Race, Short: s.opts.Short, Tags: s.opts.Tags, Args: s.opts.Args,
		Verdict: f.cause.Verdict, Message: f.cause.Message, Count: f.prefix + 1, Timing: f.timing, Request: f.repeat,
	}, nil
}

var unsafeName = regexp.MustCompile(`[^\w.-]+`)

// write writes the replay file into dir, under a name that its content determines,
// and returns the name.
func (r *Replay) write(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", inputError("the replay file cannot be written: %w", err)
	}
	text := r.String()
	name := fmt.Sprintf("%s-%s-%s.replay", unsafeName.ReplaceAllString(r.Test, "_"), r.Verdict, shortHash(text))
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return "", inputError("the replay file cannot be written: %w", err)
	}
	return name, nil
}
