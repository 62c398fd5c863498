// Package gate compares two versions of any Go module by its benchmarks, and says whether
// the newer one has become worse. It needs no configuration.
//
//	go build -o out/gate ./bench/cmd/gate
//	out/gate -base main ./...
//
// Head is the working tree as it is; base is a commit, checked out in a temporary git
// worktree that Run always removes. A package whose test binary and files are equal on both
// sides is not measured.
//
// # Figures
//
// These figures of every benchmark are compared:
//
//	ns/op            the least of twenty short runs per process
//	B/op, allocs/op  as testing counts them
//	syscalls/op      without those of Go's scheduler, counted from outside
//	instructions/op  in user mode, where the machine counts them
//	any other unit   if it ends in "ns" (p99-ns), or if a line "Unit name better=lower" of
//	                 the benchmark's output says which way is better
//
// # Times
//
// A round measures base, head and base again, each in a process of its own; every other round
// goes in the opposite order. The rounds go through several random layouts of each binary,
// because the place of a function in memory can cost some percent. The two sides of a round
// are a pair; package stats has the tests. A time is worse if
//
//   - the p value is below 0.01 after Holm's correction for all figures of the run and for the stages,
//   - the ratio is beyond -least, by default 2 %, or 50 % for other units,
//   - the ratio is greater than the differences between the layouts,
//   - and the rounds of the last stage alone are slower, too.
//
// All benchmarks are measured in a first stage. Those whose interval does not exclude that they have become worse
// by more than -least are measured in up to three more, with fresh layouts in each, as long as the budget
// lasts; a suspect always gets a second stage. All rounds of a figure are judged together.
//
// A figure is inconclusive if base differs from itself by the same rule, or if the least
// change that would have been found, which is printed for each figure, is above -blind. If a
// benchmark of the gate's own shows at the start that the machine is too noisy, the gate says so
// and compares counts only: then the verdict can be a regression or inconclusive, but not a pass.
// With -times=off only counts are requested, and they can pass.
//
// # Counts
//
// A count is worse if the least value of head exceeds the greatest value of base by more than
// a tolerance. There are two runs of each, and more if these say so: as many as are needed that
// a count that varies has a chance below 0.01 to raise an alarm among all figures, for a
// thousand figures ten of each.
//
// # Verdicts
//
// Exit code 0: pass. 1: a regression, or a benchmark that fails in head. 2: usage, or
// something that does not build. 3: inconclusive. 4: the self-test failed, and nothing was
// compared: the gate did not find the regressions that it plants in a module of its own, or
// found one between equal sides. A figure that could not be measured is "not run", and the
// verdict says why; with -strict it is inconclusive.
//
// Package release has Eventide's own gate, with fixed tiers.
package gate
