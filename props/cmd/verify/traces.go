package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"eventide/internal/timeline"
	"eventide/model"
	"eventide/props/history"
)

// traceResult is what became of the kept traces, each of which carries its
// verdict.
type traceResult struct {
	Model   int      `json:"model"`   // traces of the model's actions
	History int      `json:"history"` // logs of calls and bodies
	Wrong   []string `json:"wrong"`   // those whose verdict was not found

	recorded []*timeline.Timeline // of the bad ones of History
}

func (v *verification) judgeTraces() error {
	var err error
	v.traces.Model, err = v.judgeDir("model", func(r io.Reader) error {
		t, err := model.ParseTrace(r)
		if err != nil {
			return err
		}
		return t.Check()
	})
	if err != nil {
		return err
	}
	v.traces.History, err = v.judgeDir("history", func(r io.Reader) error {
		t, err := history.Parse(r)
		if err != nil {
			return err
		}
		if err := t.Judge(); err != nil {
			return err
		}
		return v.traces.record(t)
	})
	return err
}

// record adds the timeline of a bad trace to the page. The comments of
// the trace say what it remembers.
func (r *traceResult) record(t history.Trace) error {
	if len(t.Verdict) == 0 {
		return nil
	}
	h, err := history.Of(t.Events, t.Rules)
	if err != nil {
		return err
	}
	l := h.Timeline(h.Violations()[0])
	l.Text = strings.Join(t.Comments, "\n")
	r.recorded = append(r.recorded, l)
	return nil
}

func (v *verification) judgeDir(name string, judge func(io.Reader) error) (int, error) {
	paths, err := filepath.Glob(filepath.Join(v.root, "testdata", "traces", name, "*.trace"))
	if err != nil {
		return 0, err
	}
	if len(paths) == 0 {
		return 0, fmt.Errorf("no traces in testdata/traces/%s", name)
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return 0, err
		}
		if err := judge(f); err != nil {
			v.traces.Wrong = append(v.traces.Wrong, fmt.Sprintf("%s: %v", filepath.Base(path), err))
		}
		f.Close()
	}
	return len(paths), nil
}
