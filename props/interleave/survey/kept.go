package survey

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Kept is the content of the file of results.
type Kept struct {
	Go      string
	Options Options
	Modules []*Result
}

// ReadKept reads the kept results; a missing file has none.
func ReadKept(name string) (*Kept, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &Kept{}, nil
	}
	if err != nil {
		return nil, err
	}
	k := &Kept{}
	return k, json.Unmarshal(text, k)
}

// Put adds the result of a module in place of an earlier one.
func (k *Kept) Put(r *Result) {
	i, found := slices.BinarySearchFunc(k.Modules, r, func(a, b *Result) int { return strings.Compare(a.Module, b.Module) })
	if found {
		k.Modules[i] = r
		return
	}
	k.Modules = slices.Insert(k.Modules, i, r)
}

// Stamp says with which options and release the results are made.
func (k *Kept) Stamp(o Options) { k.Go, k.Options = runtime.Version(), o }

// Write writes the results with the classes of their findings.
func (k *Kept) Write(name, classes string) error {
	read, err := readClasses(classes)
	if err != nil {
		return err
	}
	for _, r := range k.Modules {
		for i := range r.Findings {
			f := &r.Findings[i]
			f.Class, f.About = read.of(r.Module, f)
		}
	}
	text, err := json.MarshalIndent(k, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// String is the line that is printed when a module has been explored.
func (r *Result) String() string {
	text := fmt.Sprintf("%s %s: %d of %d tests, %d schedules, %.0fs, findings %v, not run %v", r.Module, r.Version, r.Run, r.Tests, r.Schedules, r.Seconds, r.Verdicts, r.NotRun)
	if r.Failed != "" {
		text += ", " + strings.SplitN(r.Failed, "\n", 2)[0]
	}
	return text
}
