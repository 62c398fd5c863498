package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"eventide/internal/machine"
)

// schema is the version of all files.
const schema = 1

// Revision is the revision of the sources that this binary was built from, set by the
// linker. It ends in -dirty if the sources had changes.
var Revision string

// About says what measured a file, and on what.
type About struct {
	Schema   int
	Revision string
	Go       string
	CPU      string
	CPUs     int
	Command  string // repeats the measurement
}

// Describe returns the About of this process, which a make target with these arguments
// repeats. It fails in a binary without a revision.
func Describe(target string, args []string) (About, error) {
	if Revision == "" {
		return About{}, errors.New("evidence: this binary does not know its revision: build it by the make target")
	}
	command := "make " + target
	if len(args) > 0 {
		command += " ARGS='" + strings.Join(args, " ") + "'"
	}
	return About{Schema: schema, Revision: Revision, Go: runtime.Version(), CPU: machine.CPU(), CPUs: runtime.NumCPU(), Command: command}, nil
}

// version returns the version of the file.
func (a About) version() int { return a.Schema }

// read reads a file into a value that embeds About.
func read(name string, into interface{ version() int }) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("evidence: %s: %w", name, err)
	}
	if got := into.version(); got != schema {
		return fmt.Errorf("evidence: %s: schema is %d, want %d", name, got, schema)
	}
	return nil
}

// Write writes a file.
func Write(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}
