// Package peers measures executors and event loops of several languages beside
// one another: eventide's, Netty's, gnet, ants, pond, libuv, Boost.Asio, plain net
// and a Go channel.
//
//	make peers-setup     # once: the packages of the system, and the drivers
//	make peers           # ROUNDS=12 RUN='execute|roundtrip' to choose
//
// # How they are driven
//
// Every implementation sits in a driver: a process that reads one request per line
// on its standard input and writes one answer per line on its standard output. The
// requests are the same for all, and so is what they mean (wire.go); the Go ones
// share one process, each other driver has its own, and Netty's two loops have a
// JVM each, so that neither spoils the other's compiled code. A driver that is not
// asked anything does nothing. Whoever writes one for another library needs no more
// than wire.go.
//
// A round asks every implementation for one slice of every workload, in an order
// that is shuffled anew for each round and workload by a seed that is printed.
// Ratios are taken round by round; reported are their median and its 95 %
// confidence interval by order statistics (golang.org/x/perf/benchmath), which
// assumes nothing about the distribution. Times drift by a factor of two from one
// run to the next: quote ratios.
//
// # What is measured
//
//	execute/producers=N     wall time per task, from letting N producers go until
//	                        the last task has run; all submit one existing func
//	execute/in-loop         the same for tasks that a running task submits
//	roundtrip/idle          from before the submission until the caller has heard
//	                        from the task, on a loop left alone for 200 us before;
//	                        of eventide it is verified that the loop parked once
//	                        per trip, otherwise the trip is void and not counted
//	roundtrip/busy          the same, trip after trip without a pause
//	latency/load=P          from the submission until the task begins, by a producer
//	                        that submits at P % of the rate at which this very
//	                        implementation ran such tasks as fast as it could
//	schedule-cancel/W       one schedule and one cancel of a timer far away, from
//	                        within the loop or outside of it, the heap's work included
//	timer-lateness          by how much timers of 1 to 20 ms are late
//	shutdown/idle           quiet period 0, of a loop that has run one task
//	quiet-overshoot         by how much a quiet period of 20 ms takes longer
//	shutdown/backlog=N      from the shutdown call until the end, N tasks queued;
//	                        tasks that were accepted and never ran are counted
//	echo/connections=N      requests per second of a TCP echo server, by one client
//	shutdown/channels=N     until that server has ended, N connections open
//
// # Raw samples
//
// out/peers.jsonl has one JSON object per line. The first describes the run
// (RawHeader), every other is one slice (Slice); `peers -from out/peers.jsonl`
// makes the table and the JSON from it again, and nothing else goes into them.
//
// # What is not
//
// The others do less, or something else, and nothing is done to even that out: a
// channel makes its producers wait where a queue grows, ants and pond are pools, here
// of one worker, libuv has no queue of tasks at all. A workload that an implementation
// does not have is "not offered" with the reason, one whose driver is missing is
// "not run" with the reason; neither counts as met.
package peers
