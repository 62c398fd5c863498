package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path/filepath"
)

// WriteCase keeps a case as JSON in dir, and returns the path: the name, a hash of what
// makes the case, and the extension.
func WriteCase(dir, name, ext string, value, key any) (string, error) {
	text, err := json.Marshal(key)
	if err != nil {
		return "", err
	}
	hash := fnv.New32a()
	hash.Write(text)
	path := filepath.Join(dir, fmt.Sprintf("%s-%08x%s", name, hash.Sum32(), ext))
	return path, WriteJSON(path, value)
}

// DecodeCase decodes a case, whose version must be the wanted one. A field that T does not
// have is an error: the case is then of a later version.
func DecodeCase[T any](path string, data []byte, want int, version func(T) int) (T, error) {
	var value, none T
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&value); err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	if version(value) != want {
		return none, fmt.Errorf("%s: version is %d, want %d", path, version(value), want)
	}
	return value, nil
}
