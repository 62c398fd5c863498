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
// A round measures base and head, each in a process of its own; every other round
// goes in the opposite order. The rounds go through several random layouts of each binary,
// because the place of a function in memory can cost some percent. The two sides of a round
// are a pair; package stats has the tests.
//
// All benchmarks are measured in a first stage. A figure becomes a suspect if its p value there is below 0.1, the
// ratio is greater than the differences between the layouts, and the interval does not exclude a change beyond
// -least. The suspects are measured in up to three later stages, with fresh layouts in each, as long as the
// budget lasts. There a round measures base a second time, too. A suspect is worse if in the later stages alone
//
//   - the p value is below 0.01, of which each stage has a third, after Holm's correction for all suspects,
//   - the ratio is beyond -least, by default 2 %, or 50 % for other units,
//   - the ratio is greater than the differences between the layouts,
//   - and base does not differ from itself by the same rule.
//
// So the many figures of a large module do not raise the bar for each other: the first stage chooses, and what
// it measured is no evidence afterwards.
//
// A figure is inconclusive if base differs from itself, if it may be worse and the budget does not suffice for a
// later stage, or if the least change that would have been found, which is printed for each figure, is above -blind. If a
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
