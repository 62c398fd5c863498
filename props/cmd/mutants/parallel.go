package main

import (
	"errors"
	"os"
	"sync"
	"time"

	"eventide/props/mutant"
)

// room is how much may go on at a time. All methods may be called from many goroutines
// at once.
type room struct {
	slots chan struct{}
	paths sync.Map // path -> *sync.Mutex: of binaries
}

func newRoom(n int) *room { return &room{slots: make(chan struct{}, n)} }

// build builds a binary unless it is there. Mutants that share a program ask for it at the
// same time, and one of them builds it.
func (r *room) build(bin string, build func() (string, error)) (string, error) {
	lock, _ := r.paths.LoadOrStore(bin, &sync.Mutex{})
	mu := lock.(*sync.Mutex)
	mu.Lock()
	defer mu.Unlock()
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	return build()
}

func (r *room) take() { r.slots <- struct{}{} }
func (r *room) give() { <-r.slots }

// lend gives a slot that the caller has taken to another after a while, and returns what
// takes one again, as the caller comes to its end. A test that hangs sleeps, until its
// time is over: meanwhile the next mutant has its turn.
func (r *room) lend(after time.Duration) (back func()) {
	lent := make(chan struct{})
	timer := time.AfterFunc(after, func() { r.give(); close(lent) })
	return func() {
		if !timer.Stop() {
			<-lent
			r.take()
		}
	}
}

// each calls do for each mutant, as many at a time as there are slots, and joins the
// errors. One that fails does not keep the others from their turn.
func (r *room) each(todo []mutant.Mutant, do func(mutant.Mutant) error) error {
	var mu sync.Mutex
	var all error
	var running sync.WaitGroup
	for _, m := range todo {
		r.take()
		running.Go(func() {
			defer r.give()
			if err := do(m); err != nil {
				mu.Lock()
				defer mu.Unlock()
				all = errors.Join(all, err)
			}
		})
	}
	running.Wait()
	return all
}
