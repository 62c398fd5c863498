package main

import (
	"errors"
	"fmt"
	"io/fs"

	"eventide/props/internal/runner"
	"eventide/props/mutant"
)

// kept is a file of results that take too long to be had in every run. A result holds
// as long as the mutant changes what it changed then. It says nothing of what the rest
// of core, or the checks, have become since: for that it has to be run again.
type kept[T any] struct {
	Schema  int                  `json:"schema"`
	Mutants map[string]result[T] `json:"mutants"`

	path string
}

type result[T any] struct {
	Hash  string `json:"hash"` // patchHash
	Value T      `json:"value"`
}

// readKept returns an empty file if there is none, or one of another schema.
func readKept[T any](path string) (*kept[T], error) {
	k := &kept[T]{Schema: schema, Mutants: map[string]result[T]{}, path: path}
	old, err := runner.ReadJSON[kept[T]](path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w (remove it to start over)", err)
	}
	if old.Schema == schema && old.Mutants != nil {
		k.Mutants = old.Mutants
	}
	return k, nil
}

// of returns what is known of a mutant, and false if that is nothing or stale.
func (k *kept[T]) of(m mutant.Mutant) (T, bool) {
	r, ok := k.Mutants[m.Name]
	return r.Value, ok && r.Hash == patchHash(m)
}

// put enters a result and replaces the file: who is interrupted keeps what he has.
func (k *kept[T]) put(m mutant.Mutant, value T) error {
	k.Mutants[m.Name] = result[T]{patchHash(m), value}
	return k.write()
}

// prune leaves only the mutants that there are.
func (k *kept[T]) prune(all []mutant.Mutant) {
	there := map[string]bool{}
	for _, m := range all {
		there[m.Name] = true
	}
	for name := range k.Mutants {
		if !there[name] {
			delete(k.Mutants, name)
		}
	}
}

func (k *kept[T]) write() error { return runner.WriteJSON(k.path, k) }
