package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"eventide/model"
	"eventide/props/history"
)

// traceResult is what became of the kept traces, each of which carries its
// verdict.
type traceResult struct {
	Model   int      `json:"model"`   // traces of the model's actions
	History int      `json:"history"` // logs of calls and bodies
	Wrong   []string `json:"wrong"`   // those whose verdict was not found
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
		return t.Judge()
	})
	return err
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
