package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteJSON replaces the file at path by value, in one step: if the program is killed, the file
// is as it was, or new. It makes the directory.
func WriteJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", " ")
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

// ReadJSON reads a file of JSON. An error is that of os.ReadFile, or names path.
func ReadJSON[T any](path string) (T, error) {
	var value, none T
	data, err := os.ReadFile(path)
	if err != nil {
		return none, err
	}
	if err := json.Unmarshal(data, &value); err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	return value, nil
}

// ReadVersion is ReadJSON of a file whose schema must be the wanted one.
func ReadVersion[T any](path string, want int, schema func(T) int) (T, error) {
	value, err := ReadJSON[T](path)
	if err == nil && schema(value) != want {
		var none T
		return none, fmt.Errorf("%s: schema is %d, want %d", path, schema(value), want)
	}
	return value, err
}

// ReadOr is ReadVersion, or returns fresh if there is no file.
func ReadOr[T any](path string, want int, schema func(T) int, fresh T) (T, error) {
	value, err := ReadVersion(path, want, schema)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	return value, err
}
