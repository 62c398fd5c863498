// Package stats decides whether one of two versions of a program is slower than the
// other, from rounds in which both were measured one right after the other.
//
// The two measurements of a round form a pair: a slow machine slows both, which cancels out in
// their ratio. All functions take the logarithms of these ratios, see Pair. A test of the pairs
// makes no assumption about the distribution of the times. It assumes only that the noise of a
// pair is as likely to favour one side as the other; so the side that is measured first
// alternates.
//
// The functions have no state and may be called from many goroutines at once.
package stats
