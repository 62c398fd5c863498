package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// packages are those of core whose schedules the lane explores. The epoll pollers are
// linked in and never run: the lane's loops sleep on core's chanPoller, or on the
// scripted poller of package props. The tests of package sockets run the epoll pollers
// under chosen schedules, over a model of the kernel that this lane does not have.
var packages = []string{"./core", "./core/internal/poll", "./core/internal/tasks"}

// CoreFiles returns the source files that the lane explores, as paths from the root of
// the module, in order.
func CoreFiles(root string) (files []string, err error) {
	cmd := exec.Command("go", append([]string{"list", "-tags=interleave", "-json=Dir,GoFiles"}, packages...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir     string
			GoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			slices.Sort(files)
			return files, nil
		} else if err != nil {
			return nil, err
		}
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		for _, name := range p.GoFiles {
			files = append(files, filepath.ToSlash(filepath.Join(dir, name)))
		}
	}
}

// CoreHash names what the lane explores: two trees whose source files of core, with the
// changed ones in their place, have the same tokens have the same hash. Comments and
// layout do not count, so that a kept result outlives a change of a comment.
func CoreHash(root string, changed map[string]string) (string, error) {
	files, err := CoreFiles(root)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range files {
		text, ok := changed[name]
		if !ok {
			data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
			if err != nil {
				return "", err
			}
			text = string(data)
		}
		fmt.Fprintf(h, "%s\n", name)
		if err := writeTokens(h, name, text); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}

// writeTokens writes the tokens of a Go file, one on a line, and of its comments those
// that the go command or the compiler obeys.
func writeTokens(w io.Writer, name, text string) error {
	var failed scanner.ErrorList
	file := token.NewFileSet().AddFile(name, -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), failed.Add, scanner.ScanComments)
	for {
		_, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return failed.Err()
		case tok == token.COMMENT && !isDirective(literal):
		case tok == token.SEMICOLON:
			fmt.Fprintln(w, tok) // its literal says whether it was written
		default:
			fmt.Fprintf(w, "%v %q\n", tok, literal)
		}
	}
}

// isDirective reports whether a comment is a directive, such as //go:build or
// //go:noinline, or a build constraint of the older form.
func isDirective(comment string) bool {
	return strings.HasPrefix(comment, "//go:") || strings.HasPrefix(comment, "// +build")
}
