// Package gate compares two versions of any Go module by its benchmarks, and says whether
// the newer one has become worse. It needs no configuration.
//
//	go build -o out/gate ./bench/cmd/gate
//	out/gate -base main ./...
//
// Head is the working tree as it is; base is a commit, checked out in a temporary git
// worktree that is removed whatever happens. A package whose test binary and files are
// equal on both sides is not measured.
//
// # Figures
//
// Of every benchmark are compared:
//
//	ns/op            the least of five short runs per process
//	B/op, allocs/op  as testing counts them
//	syscalls/op      without those of Go's scheduler, counted from outside
//	instructions/op  in user mode, where the machine counts them
//	any other unit   that ends in "ns" (p99-ns), or of which the benchmark's output says
//	                 in a line "Unit name better=lower" which way is better
//
// # Times
//
// A round measures base, head and base again, each in a process of its own, in turn from
// left to right and from right to left. The rounds go through several random layouts of
// each binary, for the place of a function in memory can cost some percent. The two sides
// of a round are a pair; see package stats for the tests. A time is worse if
//
//   - the p value is below 0.01 after Holm's correction for all figures of the run,
//   - the ratio is beyond -least, by default 2 %, or 50 % for other units,
//   - and beyond what the layouts differ by;
//   - and all of this again in fresh rounds with fresh layouts.
//
// If base differs from itself by the same rule, the figure is inconclusive. So it is if the
// least change that would have been found, which is printed for each figure, is above
// -blind. A machine that is found to be too noisy at the start is said to be, and then only
// counts are compared: the verdict can be a regression, or inconclusive, but not a pass,
// unless -times=off says that counts are all that is wanted.
//
// # Counts
//
// A count is worse if the least that head had is above the most that base had, beyond a
// tolerance, in each of several runs.
//
// # Verdicts
//
// Exit code 0: pass. 1: a regression, or a benchmark that fails in head. 2: usage, or
// something that does not build. 3: inconclusive. 4: the gate did not see what it planted
// in a module of its own, and nothing was compared. A figure that could not be measured is
// "not run", and the verdict says why; with -strict it is inconclusive.
//
// Package release has Eventide's own gate, with fixed tiers.
package gate
