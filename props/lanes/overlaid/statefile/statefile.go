// Package statefile keeps the state of a long run, which may be interrupted and gone on
// with, in a file of JSON with a version.
package statefile

import (
	"fmt"

	"eventide/props/internal/runner"
)

// Load reads a file of JSON whose schema, which of tells, must be the one wanted. The
// error is fs.ErrNotExist if there is none.
func Load[T any](path string, want int, of func(T) int) (state T, err error) {
	var none T
	if state, err = runner.ReadJSON[T](path); err != nil {
		return none, err
	}
	if got := of(state); got != want {
		return none, fmt.Errorf("%s: schema is %d, want %d", path, got, want)
	}
	return state, nil
}

// Save replaces the file in one step: if the program is killed, the file is the one before.
func Save(path string, state any) error { return runner.WriteJSON(path, state) }
