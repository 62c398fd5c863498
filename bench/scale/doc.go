// Package scale measures how throughput grows with producers, loops and connections on
// the machine it runs on, and simulates what it cannot measure: a queue's intake on more
// processors than the machine has.
//
//	go run ./bench/cmd/scale
//
// # Curves
//
// A curve is a throughput against a number that grows: producers that submit tasks to a
// fixed number of loops, or connections of an echo server with a fixed number of loops.
// Rounds are interleaved: each round measures every point of every curve once, in an
// order that alternates. A point is the median of its rounds with a 95 % confidence
// interval by order statistics.
//
// # The law and the knee
//
// Each curve is fitted by the Universal Scalability Law (N. J. Gunther, Guerrilla
// Capacity Planning, 2007):
//
//	X(n) = λ n / (1 + σ (n-1) + κ n (n-1))
//
// λ is the throughput of one, σ the share of the work that only one can do at a time
// (contention for a lock or a single loop), and κ the cost of agreeing with each other
// (cache lines that move between processors). With κ > 0 the curve has a knee, the n
// behind which more of it lowers the throughput. With κ = 0 it levels off at λ/σ.
//
// A fit says nothing about numbers beyond those measured; on a machine of two processors
// a curve of producers says what more goroutines do, not what more processors would do.
// That is what the simulation is for.
//
// # The simulation
//
// Simulate runs producers, one for each processor, against an Intake: a list of the cache
// lines that a producer takes for itself to submit one task. A line is with one processor
// at a time, moving it takes Machine.Transfer, and requests for it wait for each other.
// Transfer is measured by Transfer between two processors of this machine, if it has two.
// The simulation knows no caches that overflow, no prefetching and no second socket. So it
// is good for the order of designs and for where each stops growing, not for nanoseconds.
package scale
