package netty

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// A Record is a program and the trace of its run on Netty.
type Record struct {
	Program *Program
	Netty   Trace
}

// Write writes records as text: comment lines, and for each record the program and, after
// "= ", the trace.
func Write(w io.Writer, comment string, records []Record) error {
	b := bufio.NewWriter(w)
	for line := range strings.Lines(comment) {
		fmt.Fprintln(b, "#", strings.TrimSpace(line))
	}
	for _, r := range records {
		fmt.Fprintf(b, "%v\n= %v\n", r.Program, r.Netty)
	}
	return b.Flush()
}

// Read reads the output of Write.
func Read(r io.Reader) (comment string, records []Record, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	var p *Program
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "#"):
			comment += strings.TrimSpace(line[1:]) + "\n"
		case strings.HasPrefix(line, "= "):
			if p == nil {
				return comment, records, fmt.Errorf("netty: line %d: a trace without a program", n)
			}
			t, err := ParseTrace(line[2:])
			if err != nil {
				return comment, records, fmt.Errorf("netty: line %d: %w", n, err)
			}
			records = append(records, Record{p, t})
			p = nil
		case line != "":
			if p != nil {
				return comment, records, fmt.Errorf("netty: line %d: a program without a trace", n-1)
			}
			if p, err = Parse(line); err != nil {
				return comment, records, fmt.Errorf("netty: line %d: %w", n, err)
			}
		}
	}
	if p != nil {
		return comment, records, fmt.Errorf("netty: the last program has no trace")
	}
	return comment, records, lines.Err()
}
