package score

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"eventide/props/internal/runner"
)

// schema is the version of the file. Fields are added and keep their meaning; a change of
// meaning is another version.
const schema = 2

// File is what is known of the picks of one state of the sources. A pick is judged once: a
// run that is interrupted goes on where it was, and a larger number of picks, or another
// seed, adds to it.
type File struct {
	Schema   int           `json:"schema"`
	Revision string        `json:"revision"` // of the repository
	Sources  string        `json:"sources"`  // hash of the files that are mutated
	Checks   string        `json:"checks"`   // hash of the files that look for the mutants
	Sites    int           `json:"sites"`    // places that could be drawn
	Budget   map[By]string `json:"budget"`   // the most that each kind of check may do for one pick
	Draws    []Draw        `json:"draws"`
	Picks    []Pick        `json:"picks"`

	path string
}

// Draw is one seed and how many picks were drawn by it.
type Draw struct {
	Seed      uint64 `json:"seed"`
	Picks     int    `json:"picks"`
	Stillborn int    `json:"stillborn"` // draws that did not compile
}

// Open reads a file, or makes an empty one in memory if there is none. What is known of
// other sources or checks says nothing of these: then the file is empty too, and stale is
// true.
func Open(path, sources, checks string, sites int) (f *File, stale bool, err error) {
	empty := &File{Schema: schema, Sources: sources, Checks: checks, Sites: sites, path: path}
	f, err = Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if f.Sources != sources || f.Checks != checks {
		return empty, true, nil
	}
	f.path = path
	return f, false, nil
}

// Read reads a file. It is an error if there is none.
func Read(path string) (*File, error) {
	f, err := runner.ReadJSON[File](path)
	if err != nil {
		return nil, fmt.Errorf("%w (remove it to begin again)", err)
	}
	if f.Schema != schema {
		return nil, fmt.Errorf("%s: its schema is %d, want %d (remove it to begin again)", path, f.Schema, schema)
	}
	return &f, nil
}

// Known returns the pick of this name, if it was judged.
func (f *File) Known(name string) (Pick, bool) {
	at := slices.IndexFunc(f.Picks, func(p Pick) bool { return p.Name == name })
	if at < 0 {
		return Pick{}, false
	}
	return f.Picks[at], true
}

// Drew records that so many picks were drawn by a seed.
func (f *File) Drew(d Draw) {
	at := slices.IndexFunc(f.Draws, func(other Draw) bool { return other.Seed == d.Seed })
	switch {
	case at < 0:
		f.Draws = append(f.Draws, d)
	case f.Draws[at].Picks < d.Picks:
		f.Draws[at] = d
	}
}

// Put records what became of a pick of a seed, in place of what was known of it, and replaces the
// file in one step. A pick that two seeds have drawn is there twice.
func (f *File) Put(p Pick) error {
	if at := slices.IndexFunc(f.Picks, func(other Pick) bool { return other.Name == p.Name && other.Seed == p.Seed }); at >= 0 {
		f.Picks[at] = p
	} else {
		f.Picks = append(f.Picks, p)
	}
	return f.write()
}

func (f *File) write() error { return runner.WriteJSON(f.path, f) }
