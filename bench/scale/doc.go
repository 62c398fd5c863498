// Package scale measures how throughput grows with producers, loops and connections on this
// machine, and simulates the submission of tasks on more processors than the machine has.
//
//	go run ./bench/cmd/scale
//
// # Curves
//
// A curve is a throughput as a function of a number: of producers that submit tasks to a fixed
// number of loops, or of connections of an echo server with a fixed number of loops.
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
// λ is X(1), σ the share of the work that only one producer can do at a time (contention for a
// lock or a single loop), and κ the cost of coordination (cache lines that move between
// processors). With κ > 0 the curve has a knee: a greater n lowers the throughput. With κ = 0
// the curve levels off at λ/σ.
//
// A fit says nothing about numbers beyond those measured. On a machine of two processors a curve
// of producers shows the effect of more goroutines, not of more processors; the simulation is
// for those.
//
// # The simulation
//
// Simulate runs producers, one for each processor, against an Intake: a list of the cache
// lines that a producer takes for itself to submit one task. A line is with one processor
// at a time, moving it takes Machine.Transfer, and requests for it wait for each other.
// Transfer is measured by Transfer between two processors of this machine, if it has two.
// The simulation has no caches that overflow, no prefetching and no second socket. So it shows
// which of two designs is faster and where each stops growing, and not nanoseconds.
package scale
