// Package ablation measures what a part of core costs: it takes the part out, and runs a benchmark
// with and without it, in turns.
//
// An ablation is a file of testdata/ablations, in the format of a planted bug. It names the guarantee
// that nobody keeps without the part, and one or more benchmarks of package bench in lines such as
//
//	# benchmark: ScheduleCancel/impl=core/where=loop/timers=100
//
// The program without the part is wrong. It is a program to measure only as far as the benchmark does
// not need the part: a benchmark with one goroutine does not need a lock.
//
// The result is an upper bound of what a better implementation of the same guarantee could gain.
package ablation
