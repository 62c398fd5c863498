// Package stats decides whether one of two versions of a program is slower than the
// other, from rounds in which both were measured one right after the other.
//
// The two measurements of a round form a pair: whatever slows the machine down slows
// both, and cancels out in their ratio. All functions take the logarithms of these
// ratios, see Pair. A test of the pairs needs no assumption about how the times are
// distributed, only that the noise of a pair is as likely to favour one side as the
// other; taking turns in who is first makes it so.
//
// The functions have no state and may be called from many goroutines at once.
package stats
