package main

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"eventide/props/interleave/inprocess"
)

// yields checks that a goroutine which yields lets another one go on at once.
func yields() string {
	s := inprocess.NewReplay(nil)
	s.Begin()
	r := inprocess.Run(s, inprocess.Options{}, func() {
		var ready atomic.Bool
		go ready.Store(true)
		for !ready.Load() {
			runtime.Gosched()
		}
	})
	if r.Steps > 20 {
		return fmt.Sprintf("%d steps", r.Steps)
	}
	return ""
}

// unfair checks that a schedule says where a goroutine went on and on.
func unfair() string {
	s := inprocess.NewReplay(nil)
	s.Begin()
	r := inprocess.Run(s, inprocess.Options{}, func() {
		var ready atomic.Bool
		go ready.Store(true)
		for !ready.Load() {
		}
	})
	if len(r.Unfair) != 1 || !strings.HasPrefix(r.Unfair[0], "programs/searches.go:") {
		return fmt.Sprintf("got %v, want one line", r.Unfair)
	}
	return ""
}

// chance checks that pct promises nothing of a schedule that was longer than expected, and
// expects no less of the next ones because a short one came between.
func chance() string {
	s, err := inprocess.New("pct3", 1)
	if err != nil {
		return err.Error()
	}
	many := func(n int) func() {
		return func() {
			var mu sync.Mutex
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					for range n {
						mu.Lock()
						mu.Unlock() //nolint:staticcheck // operations are all that is wanted
					}
				})
			}
			both.Wait()
		}
	}
	var chances []float64
	for _, n := range []int{50, 50, 1, 1} {
		s.Begin()
		r := inprocess.Run(s, inprocess.Options{}, many(n))
		_, c := s.Chance(r.Goroutines)
		chances = append(chances, c)
		s.End(r, true)
	}
	if chances[0] != 0 || chances[2] == 0 || chances[3] != chances[2] || chances[3] > 1e-3 {
		return fmt.Sprint(chances)
	}
	return ""
}

// raceBound is the bound of exhaustive searches with the race detector: package sync has
// twice as many operations there, and more preemptions would take minutes.
const raceBound = 1

// exhaustive checks that three goroutines get a lock in every order, and that the search
// says when there is nothing more to see.
func exhaustive() string {
	most, all := 12, true
	if inprocess.RaceBuild {
		most, all = raceBound, false
	}
	s := inprocess.NewExhaustive(most)
	seen := map[string]bool{}
	for s.Begin() {
		var order []string
		r := inprocess.Run(s, inprocess.Options{}, func() {
			var mu sync.Mutex
			var all sync.WaitGroup
			for _, name := range []string{"a", "b", "c"} {
				all.Go(func() {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, name)
				})
			}
			all.Wait()
		})
		s.End(r, true)
		if r.Verdict != inprocess.Pruned {
			seen[strings.Join(order, "")] = true
		}
	}
	if len(seen) != 6 || !s.Complete() || s.All() != all {
		return fmt.Sprintf("%d orders, complete %v, all %v, bound %d", len(seen), s.Complete(), s.All(), s.Bound())
	}
	return ""
}

// bounded checks that two goroutines with four operations each on one object, and as many
// on objects of their own between these, come to the object in every order that so many
// preemptions allow. The last change of goroutine is free, since one of them has ended.
func bounded() string {
	const each = 4
	for bound, want := range []int{2, 8, 26, 44, 62} { // of 70 orders
		if inprocess.RaceBuild && bound > raceBound {
			break
		}
		s := inprocess.NewExhaustive(bound)
		seen := map[string]bool{}
		for s.Begin() {
			var order [2 * each]byte
			r := inprocess.Run(s, inprocess.Options{}, func() {
				var place atomic.Int32
				var both sync.WaitGroup
				for _, name := range []byte("ab") {
					both.Go(func() {
						var own atomic.Int32
						for range each {
							own.Add(1)
							order[place.Add(1)-1] = name
						}
					})
				}
				both.Wait()
			})
			s.End(r, true)
			if r.Verdict != inprocess.Pruned {
				seen[string(order[:])] = true
			}
		}
		if len(seen) != want || !s.Complete() {
			return fmt.Sprintf("%d orders with %d preemptions, want %d; complete %v", len(seen), bound, want, s.Complete())
		}
	}
	return ""
}

// classes checks that schedules of one class leave the same value behind. The goroutines
// do the same whichever goes first, so nothing but the order of their writes tells the
// classes apart.
func classes() string {
	s, err := inprocess.New("walk", 1)
	if err != nil {
		return err.Error()
	}
	left, values := map[uint64]int32{}, map[int32]bool{}
	for range 500 {
		s.Begin()
		var last int32
		r := inprocess.Run(s, inprocess.Options{}, func() {
			var v atomic.Int32
			var both sync.WaitGroup
			both.Go(func() { v.Store(1) })
			both.Go(func() { v.Store(2) })
			both.Wait()
			last = v.Load()
		})
		s.End(r, true)
		if before, seen := left[r.Class]; seen && before != last {
			return fmt.Sprintf("two schedules of class %x leave %d and %d", r.Class, before, last)
		}
		left[r.Class], values[last] = last, true
	}
	if len(values) != 2 {
		return fmt.Sprintf("the values %v, want both orders", values)
	}
	return ""
}
