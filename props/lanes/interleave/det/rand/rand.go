// Package rand is the look-alike of math/rand/v2: its numbers depend on nothing but
// what the goroutine has done, so that a schedule that runs twice sees the same.
package rand

import (
	real "math/rand/v2"

	"eventide/props/lanes/interleave/det"
)

// Uint64 is rand.Uint64.
//
//go:norace
func Uint64() uint64 { return det.Random() }

// Int63 is rand.Int63.
func Int63() int64 { return int64(Uint64() >> 1) }

// Int64N is rand.Int64N.
func Int64N(n int64) int64 { return int64(Uint64()>>1) % n }

// IntN is rand.IntN.
func IntN(n int) int { return int(Int64N(int64(n))) }

// N is rand.N.
func N[I ~int | ~int64](n I) I { return I(Int64N(int64(n))) }

// Float64 is rand.Float64.
func Float64() float64 { return float64(Uint64()>>11) / (1 << 53) }

// A generator with a seed of its own is deterministic already.
type (
	Rand   = real.Rand
	Source = real.Source
	PCG    = real.PCG
)

// New is rand.New.
func New(src Source) *Rand { return real.New(src) }

// NewPCG is rand.NewPCG.
func NewPCG(a, b uint64) *PCG { return real.NewPCG(a, b) }
