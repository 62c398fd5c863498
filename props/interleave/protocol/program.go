package protocol

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// EnvProgram is the environment variable that holds a Program for interleave.Linearizable.
// Request.Environ sets it from Request.Program.
const EnvProgram = "INTERLEAVE_PROGRAM"

// A Program is a program of concurrent operations that interleave.Linearizable draws from
// a seed, in a smaller form.
type Program struct {
	Seed   uint64
	Sizes  []int   // operations of each thread, as drawn
	Out    []Place // operations that are left out
	Simple []Place // operations that have the simplest of some arguments
}

// A Place is that of an operation in a Program, both from 0.
type Place struct{ Thread, Op int }

// String is the form that ParseProgram reads: seed, sizes, left out and simple, as in
// 17:3,2:0.1:1.0.
func (p Program) String() string {
	sizes := make([]string, len(p.Sizes))
	for i, n := range p.Sizes {
		sizes[i] = strconv.Itoa(n)
	}
	return fmt.Sprintf("%d:%s:%s:%s", p.Seed, strings.Join(sizes, ","), places(p.Out), places(p.Simple))
}

func places(list []Place) string {
	words := make([]string, len(list))
	for i, at := range list {
		words[i] = fmt.Sprintf("%d.%d", at.Thread, at.Op)
	}
	return strings.Join(words, ",")
}

// Has reports whether an operation is not left out.
func (p Program) Has(at Place) bool { return !slices.Contains(p.Out, at) }

// ParseProgram reads what String returns.
func ParseProgram(s string) (Program, error) {
	var p Program
	parts := strings.Split(s, ":")
	if len(parts) != 4 {
		return p, fmt.Errorf("protocol: program %q: want seed:sizes:out:simple", s)
	}
	var err error
	if p.Seed, err = strconv.ParseUint(parts[0], 10, 64); err != nil {
		return p, fmt.Errorf("protocol: program %q: %w", s, err)
	}
	for word := range words(parts[1]) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return p, fmt.Errorf("protocol: program %q: %w", s, err)
		}
		p.Sizes = append(p.Sizes, n)
	}
	if p.Out, err = parsePlaces(parts[2]); err != nil {
		return p, fmt.Errorf("protocol: program %q: %w", s, err)
	}
	if p.Simple, err = parsePlaces(parts[3]); err != nil {
		return p, fmt.Errorf("protocol: program %q: %w", s, err)
	}
	return p, nil
}

func parsePlaces(s string) ([]Place, error) {
	var list []Place
	for word := range words(s) {
		thread, op, _ := strings.Cut(word, ".")
		i, err1 := strconv.Atoi(thread)
		k, err2 := strconv.Atoi(op)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("place %q: want thread.operation", word)
		}
		list = append(list, Place{i, k})
	}
	return list, nil
}

// words are those of a list that may be empty.
func words(s string) func(yield func(string) bool) {
	if s == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(s, ",")
}
