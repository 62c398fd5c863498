package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"eventide/props/interleave/inprocess"
)

// trace checks the lines of a trace, and that tracing changes nothing.
func trace() string {
	s := inprocess.NewReplay(nil)
	var traces [2][]inprocess.Event
	for i := range traces {
		s.Begin()
		r := inprocess.Run(s, inprocess.Options{Trace: true}, func() {
			lostWakeUp(true)
			time.AfterFunc(time.Second, func() {})
			time.Sleep(2 * time.Second)
		})
		traces[i] = r.Trace
		if len(r.Callbacks) != 1 {
			return fmt.Sprintf("callbacks %v, want one", r.Callbacks)
		}
	}
	if !reflect.DeepEqual(traces[0], traces[1]) {
		return "two traces of one schedule differ"
	}
	for _, op := range []string{"store", "load", "close", "receive", "go", "clock"} {
		if !slices.ContainsFunc(traces[0], func(e inprocess.Event) bool {
			return e.Op == op && (strings.HasPrefix(e.Site, "programs/bugs.go:") || op == "clock")
		}) {
			return fmt.Sprintf("there is no %s in %v", op, traces[0])
		}
	}
	return ""
}

// races checks that the detector sees a race which no operation orders, and none where
// all is ordered. The judge reads what the schedule wrote.
func races() string {
	if !inprocess.RaceBuild {
		return ""
	}
	s, _ := inprocess.New("walk", 1)
	n, found, clean := 0, 0, 0
	for range 50 {
		s.Begin()
		r := inprocess.Run(s, inprocess.Options{}, func() {
			var both sync.WaitGroup
			var mu sync.Mutex
			for i := range 2 {
				both.Go(func() {
					mu.Lock()
					defer mu.Unlock()
					n += i
				})
			}
			both.Wait()
		})
		clean += r.Races
		if n < 0 {
			return "impossible"
		}
		s.Begin()
		r = inprocess.Run(s, inprocess.Options{}, func() {
			for i := range 2 {
				go func() { n = i }()
			}
		})
		found += r.Races
		n = 0
	}
	if found == 0 || clean != 0 {
		return fmt.Sprintf("%d races in the program that has one, %d in the one that has none", found, clean)
	}
	return ""
}
