package main

import (
	"errors"
	"sync"

	"eventide/props/mutant"
)

// inParallel calls do for each mutant, at most n at a time, and joins the errors. One
// that fails does not keep the others from their turn.
func inParallel(n int, todo []mutant.Mutant, do func(mutant.Mutant) error) error {
	next := make(chan mutant.Mutant)
	errs := make([]error, n)
	var workers sync.WaitGroup
	for i := range n {
		workers.Go(func() {
			for m := range next {
				errs[i] = errors.Join(errs[i], do(m))
			}
		})
	}
	for _, m := range todo {
		next <- m
	}
	close(next)
	workers.Wait()
	return errors.Join(errs...)
}
