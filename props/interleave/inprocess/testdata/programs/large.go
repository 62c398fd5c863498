package main

import (
	"fmt"
	"sync"
	"sync/atomic"

	"eventide/props/interleave/inprocess"
)

// large checks that schedules with many switches, and with many objects, run the same when
// they are replayed. Each run has its objects at other addresses.
func large() string {
	for _, p := range []crowd{
		{"many operations on one object", 3000, 1},
		{"more operations than a schedule usually has", 20000, 1},
		{"many objects", 1, 2000},
		{"more objects than the classes have room for", 1, 5000},
	} {
		for _, name := range []string{"walk", "pct3"} {
			if wrong := p.repeats(name); wrong != "" {
				return fmt.Sprintf("%s, by %s: %s", p.name, name, wrong)
			}
		}
	}
	return ""
}

// mostOfLarge is above the operations of the largest crowd.
const mostOfLarge = 100_000

// A crowd is three goroutines that use the same objects in the same order.
type crowd struct {
	name    string
	each    int // operations of a goroutine on each object
	objects int
}

func (p crowd) run() {
	list := make([]*atomic.Int32, p.objects)
	for i := range list {
		list[i] = &make([]atomic.Int32, 1+i*i%61)[0] // objects of one size would be evenly spread
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for _, n := range list {
				for range p.each {
					n.Add(1)
				}
			}
		})
	}
	all.Wait()
}

// repeats makes a schedule, and replays it several times.
func (p crowd) repeats(strategy string) string {
	s, err := inprocess.New(strategy, 1)
	if err != nil {
		return err.Error()
	}
	s.Begin()
	first := *inprocess.Run(s, inprocess.Options{MaxSteps: mostOfLarge}, p.run)
	if first.Verdict != inprocess.Finished {
		return fmt.Sprint(first.Verdict, first.Blocked)
	}
	replay := inprocess.NewReplay(first.Switches)
	for range 3 {
		replay.Begin()
		r := inprocess.Run(replay, inprocess.Options{MaxSteps: mostOfLarge}, p.run)
		if r.Class != first.Class || r.Steps != first.Steps || len(r.Switches) != len(first.Switches) || replay.Unused() != 0 {
			return fmt.Sprintf("the replay has %d steps, %d switches, class %x, and the schedule %d, %d, %x",
				r.Steps, len(r.Switches), r.Class, first.Steps, len(first.Switches), first.Class)
		}
	}
	return ""
}
