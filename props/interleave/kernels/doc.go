// Package kernels proves that known patterns of concurrency bugs are found.
//
// testdata/kernels is an ordinary package of tests. Each of its tests has one small bug,
// and a twin without it. Some of the bugs show in nearly every plain run, most of them
// in nearly none. The tests of this package find each bug within a bounded number of
// schedules, and nothing in the twins.
package kernels
