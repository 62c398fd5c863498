package peers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// RawHeader is the first line of the raw file: what was run, and on what.
type RawHeader struct {
	Schema   int               `json:"schema"`
	Commit   string            `json:"commit"`
	CPU      string            `json:"cpu"`
	CPUs     int               `json:"cpus"`
	Kernel   string            `json:"kernel"`
	Command  string            `json:"command"`
	Rounds   int               `json:"rounds"`
	Seed     uint64            `json:"seed"`
	Versions map[string]string `json:"versions"`          // by implementation
	NotRun   map[string]string `json:"not_run,omitempty"` // by implementation: why
}

// Slice is every other line: one measurement.
type Slice struct {
	Round    int    `json:"round"`
	Workload string `json:"workload"`
	Impl     string `json:"impl"`
	Took     int64  `json:"took_ns"` // all of the slice, what is not measured included
	Answer
	Error string `json:"error,omitempty"`
}

// Recording is a raw file.
type Recording struct {
	Header RawHeader
	Slices []Slice // in the order in which they were measured
}

type rawWriter struct {
	e   *json.Encoder
	err error // the first one
}

func newRawWriter(w io.Writer) *rawWriter { return &rawWriter{e: json.NewEncoder(w)} }

func (w *rawWriter) header(h RawHeader) { w.write(h) }
func (w *rawWriter) slice(s Slice)      { w.write(s) }

func (w *rawWriter) write(v any) {
	if err := w.e.Encode(v); w.err == nil {
		w.err = err
	}
}

// ReadRaw reads a raw file.
func ReadRaw(r io.Reader) (Recording, error) {
	var rec Recording
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		var err error
		if n == 1 {
			err = json.Unmarshal(lines.Bytes(), &rec.Header)
		} else {
			var s Slice
			err = json.Unmarshal(lines.Bytes(), &s)
			rec.Slices = append(rec.Slices, s)
		}
		if err != nil {
			return rec, fmt.Errorf("peers: raw file, line %d: %w", n, err)
		}
	}
	if rec.Header.Schema != 1 {
		return rec, fmt.Errorf("peers: raw file has schema %d, want 1", rec.Header.Schema)
	}
	return rec, lines.Err()
}
