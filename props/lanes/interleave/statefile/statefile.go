// Package statefile keeps the state of a long run, which may be interrupted and gone on
// with, in a file of JSON with a version.
package statefile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Load reads a file of JSON whose schema, which of tells, must be the one wanted. The
// error is fs.ErrNotExist if there is none.
func Load[T any](path string, want int, of func(T) int) (state T, err error) {
	var none T
	data, err := os.ReadFile(path)
	if err != nil {
		return none, err
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	if got := of(state); got != want {
		return none, fmt.Errorf("%s: schema is %d, want %d", path, got, want)
	}
	return state, nil
}

// Save replaces the file in one step: who is killed keeps the one before.
func Save(path string, state any) error {
	data, err := json.MarshalIndent(state, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
