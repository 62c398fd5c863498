package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"eventide/props/lane"
)

// saysEach is the time between two lines about the progress of a run.
const saysEach = 5 * time.Second

// digest reads what the lane prints. From its lines of JSON it makes a line about the
// progress every few seconds, and a verdict at the end. It passes all other lines on.
type digest struct {
	out, progress io.Writer
	now           func() time.Time

	partial []byte // of a line
	blank   bool   // the line before was empty
	last    lane.Result
	any     bool // there was a line of JSON
	said    time.Time
	err     error // errors of bad lines of JSON, and of out
}

func newDigest(out, progress io.Writer) *digest {
	return &digest{out: out, progress: progress, now: time.Now, said: time.Now()}
}

// Write takes more of the output. It never fails, so that the lane is not stopped; end
// returns the error.
func (d *digest) Write(p []byte) (int, error) {
	d.partial = append(d.partial, p...)
	for {
		text, rest, found := bytes.Cut(d.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		d.line(text)
		d.partial = slices.Clone(rest)
	}
}

func (d *digest) line(text []byte) {
	data, isJSON := bytes.CutPrefix(text, []byte("@@"))
	switch {
	case !isJSON:
		if d.blank {
			d.pass(nil)
		}
		if d.blank = len(text) == 0; !d.blank {
			d.pass(text)
		}
		return
	case d.take(data) != nil:
		return
	}
	d.blank = false // an empty line precedes each line of JSON
	if now := d.now(); now.Sub(d.said) >= saysEach {
		d.said = now
		fmt.Fprintf(d.progress, "%.0f s: %s\n", d.last.Seconds, verdictOf(d.last, "so far"))
	}
}

func (d *digest) take(data []byte) error {
	var l lane.Result
	if err := json.Unmarshal(data, &l); err != nil {
		d.err = errors.Join(d.err, fmt.Errorf("a line of the lane: %w: %s", err, data))
		return err
	}
	d.last, d.any = l, true
	return nil
}

func (d *digest) pass(text []byte) {
	if _, err := fmt.Fprintf(d.out, "%s\n", text); err != nil {
		d.err = errors.Join(d.err, err)
	}
}

// end prints the verdict on a lane that has ended with an exit code. A lane that
// explores no schedules, such as a replay, prints its result itself.
func (d *digest) end(code int) error {
	if len(d.partial) > 0 {
		d.line(d.partial)
	}
	switch {
	case !d.any:
	case code == exitInterrupted:
		d.pass([]byte("interrupted: " + verdictOf(d.last, "until then")))
	case code != 0 && len(d.last.Failed) == 0:
		d.pass(fmt.Appendf(nil, "no verdict: the lane ended with exit code %d", code))
	default:
		d.pass([]byte(verdictOf(d.last, "")))
	}
	return d.err
}

// verdictOf is a line in words; when is "so far", or nothing for the last one.
func verdictOf(l lane.Result, when string) string {
	var first lane.Exhausted
	if l.Exhausted != nil {
		first = *l.Exhausted
	}
	if when != "" {
		when = " " + when
	}
	seen := fmt.Sprintf("%d schedules, %d scenarios%s", l.Runs+first.Schedules, max(l.Scenarios, first.Scenarios), when)
	if len(l.Failed) == 0 {
		return "no violation in " + seen
	}
	text := "violation in " + seen + ":"
	for _, id := range slices.Sorted(maps.Keys(l.Failed)) {
		text += " " + l.Failed[id]
	}
	return text
}
