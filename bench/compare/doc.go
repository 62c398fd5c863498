// Package compare runs the workloads of package bench so that the
// implementations can be compared: interleaved, in one process.
//
// A round measures every case of a group once, in a slice of some ten
// milliseconds; the next round takes them in the opposite order (ABBA), so that a
// machine that becomes slower hits the first and the last alike. All cases of a
// workload do the same number of operations. Of each round one ratio is taken, to
// the implementation that the workload is measured against; reported are the
// median of these and its 95 % confidence interval by order statistics, which
// assumes nothing about the distribution.
//
// Times drift by a factor of two from one run to the next: quote ratios.
package compare
