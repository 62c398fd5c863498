package coretest

import (
	"iter"
	"reflect"
	"slices"
	"sync"
	"testing"

	"eventide/core"
)

// CallGetters calls each method of x without arguments again and again while the calls run, and
// once more afterwards. It returns when the calls have returned. With the race detector it sees a
// getter that reads without its lock. Methods that wait, or that must not be called in the middle, are
// in except.
func CallGetters(t testing.TB, x any, except []string, calls ...func()) {
	t.Helper()
	getters := gettersOf(x, except)
	if len(getters) < 4 {
		t.Errorf("%T has %d methods to call, want more: this shows too little", x, len(getters))
	}
	var running sync.WaitGroup
	for _, call := range calls {
		running.Go(call)
	}
	over := make(chan struct{})
	go func() { running.Wait(); close(over) }()
	for done := false; !done; {
		select {
		case <-over:
			done = true
		default:
		}
		for _, get := range getters {
			get()
		}
	}
}

func gettersOf(x any, except []string) (getters []func()) {
	v := reflect.ValueOf(x)
	for i := range v.NumMethod() {
		m := v.Method(i)
		if m.Type().NumIn() > 0 || slices.Contains(except, v.Type().Method(i).Name) {
			continue
		}
		getters = append(getters, func() {
			for _, got := range m.Call(nil) {
				use(got)
			}
		})
	}
	return getters
}

// use uses what a getter returned, as its callers do.
func use(got reflect.Value) {
	switch got := got.Interface().(type) {
	case *core.Meter:
		got.Read()
		got.Close()
	case iter.Seq[core.Channel]:
		for range got {
		}
	case *core.Termination:
		_ = got.Err()
	case interface{ IsDone() bool }:
		got.IsDone()
	}
}
