package interleave

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// loadState reads a file of JSON whose schema, which of tells, must be the one wanted.
func loadState[T any](path string, want int, of func(T) int) (state T, err error) {
	var none T
	data, err := os.ReadFile(path)
	if err != nil {
		return none, err
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return none, fmt.Errorf("interleave: %s: %w", path, err)
	}
	if got := of(state); got != want {
		return none, fmt.Errorf("interleave: %s: schema is %d, want %d", path, got, want)
	}
	return state, nil
}

// saveState replaces the file in one step: who is killed keeps the one before.
func saveState(path string, state any) error {
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
